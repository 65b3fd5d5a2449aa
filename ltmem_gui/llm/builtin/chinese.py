"""Find the same kinds of cue in Chinese text, which has no spaces between words."""

from __future__ import annotations

import re

_HAN = re.compile(r"[\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")

_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (
            "general",
            r"总是|永远|从不|从来|一律|一直|每次|每个|每天|每周|每月|所有|都(?!市)|以后|今后|默认|记住|记得|务必|千万|始终|统一|全部|任何|一般|通常"
            r"|凡是|无论|从现在起|从今|绝不|绝对|永不|长期|规定|惯例|约定|注意",
        ),
        ("weak_general", r"通常|一般|都(?!市)|每个|每天"),
        (
            "deontic",
            r"必须|需要|不能|不得|不可以?|禁止|应该|应当|只能|只有|只用|只在|仅|严禁|要求|不许|不允许|最多|至少|上限|下限|限制|不准|得先|要先|才能|得用|要用",
        ),
        (
            "preference",
            r"我(?:更|比较|还是)?(?:喜欢|偏好|习惯|倾向|希望|讨厌|不喜欢|只看|只用)|更喜欢|偏好|最好|宁可|宁愿",
        ),
        ("we", r"我们|咱们|团队|公司|客户|领导|老板|同事|运维|法务|安全组|产品经理|组里"),
        ("here", r"这个(?:项目|仓库|库|代码库|工程|机器)|本(?:项目|仓库|机|库)|这边|这里|我的(?:电脑|机器|环境)|这台"),
        (
            "stative",
            r"在[^，。]{1,30}(?:里|下|上|中|目录|端口)|位于|放在|存在|存放|属于|依赖|使用|采用|运行在|跑在|监听|负责|指向|是(?!不是|否|吗)"
            r"|来自|生成的|对应|基于|叫做?|写在|部署在|走|归|由[^，。]{1,20}(?:管|负责|生成|维护)|用的是|端口",
        ),
        ("copula", r"是(?!不是|否|吗)"),
        ("cause", r"因为|否则|不然|以免|免得|会导致|由于|所以|这样才|原因是"),
        ("instead", r"而不是|而是|改用|换成|不是[^，。]{1,20}[，,]?(?:是|而)|不要用|别用|代替"),
        (
            "transient",
            r"这次|暂时|先这样|今天|明天|刚才|目前|现在先|临时|一会儿|待会|等下|昨天|这一次|眼下|晚点|回头|只是这回|本次",
        ),
        ("complaint", r"太[大小长短暗亮慢宽窄]|坏了|报错了|不对劲|失败了|没反应|看不清|挂了|崩了|卡住"),
        ("comparative", r"一点|再[大小来写加]|更[大小暗亮短长]|往[左右上下]|一些(?!列)"),
        ("hedge", r"也许|可能|大概|好像|似乎|不确定|我猜"),
        ("self_task", r"帮我|给我|我想(?!念)|请你帮|能不能|可以帮|麻烦你|让我|我来|我正在|我去|我刚"),
        ("empty_talk", r"没关系|没事|不用了|辛苦|不客气|一直想知道|都好了"),
        ("decision", r"我们决定|决定(?:用|采用|不)|已经(?:改|换|迁移)|说好|定下来|选了|放弃了|商量好"),
        ("authority", r"要求|规定|老板说|客户(?:要求|说)|法务|运维(?:说|要求|规定)|审计"),
        (
            "my_world",
            r"我(?:的|这)(?:电脑|机器|环境|编辑器|台)|我用的是|没有(?:网|外网|权限|pip|sudo|root)|我在[^，。]{1,10}(?:时区|工作)",
        ),
        ("correction", r"^(?:不对|不是|不要|别|不行|等等|等一下|停|小心|错了|注意|其实|慢着|不，|不,|我说过)"),
        ("negation", r"不要|别(?!的|人|名)|请勿|勿|不准|不许|禁止|严禁|切勿|绝不"),
        ("habit", r"^(?:请|麻烦)?(?:一律|统一)?(?:用|使用|采用|保持|遵循|遵守|写|放|回答|回复|叫)"),
        (
            "change",
            r"^(?:请|麻烦你?|再|先|然后|把|帮我|给我)?(?:把|加|添加|删|改|修|移|生成|写一|画|看|查|跑|运行|重命名|更新|翻译|总结|解释|列出|实现|创建|做|调|换)",
        ),
        ("question", r"吗|呢$|什么|怎么|为什么|哪[里个儿]|多少|是否|是不是|有没有|能不能|可不可以|[？?]$|谁"),
        (
            "acknowledge",
            r"^(?:好的?|谢谢|多谢|可以|行|嗯|不错|很好|完美|对|是的|没错|太好了|漂亮|赞|明白|收到|辛苦了)[，。！!了的吧]*$",
        ),
    )
)


def is_chinese(text: str) -> bool:
    """Tell whether the text is written in Chinese (Han without Japanese kana)."""
    return bool(_HAN.search(text)) and not _KANA.search(text)


def is_japanese(text: str) -> bool:
    """Tell whether the text holds kana: a language there are no rules for."""
    return bool(_KANA.search(text))


def chinese_features(sentence: str) -> frozenset[str]:
    """Return the kinds of cue in one sentence."""
    text = sentence.strip()
    return frozenset(kind for kind, pattern in _KINDS if pattern.search(text))
