"""Tell whose word a sentence is and whether it still holds: hearsay, supposition, retraction, promise.

Each is a way of speaking, not a topic. Hearsay and supposition are cues with fitted weights; a retraction takes back
what was said just before; what an agent promises after a sentence is a hint that the sentence was meant as a rule.
"""

from __future__ import annotations

import re

from ltmem_gui.llm.builtin.lexicon import phrases

_HAN = re.compile(r"[\u4e00-\u9fff]")
_SOURCES = phrases(
    """
friend|friends|colleague|colleagues|coworker|neighbour|neighbor|brother|sister|cousin|teacher|professor|intern|uncle|roommate
article|advert|blog|post|podcast|video|tutorial|forum|reddit|docs|doc|documentation|readme|book|guide|manual|spec|overflow
specification|ticket|issue|comment|thread|message|people|someone|somebody|anyone|everybody|linter|compiler
artikel|werbung|doku|dokumentation|buch|spezifikation|internet|netz|youtube|kumpel|freund|freunde|freundin|kollege|kollegin
kollegen|nachbar|nachbarin|lehrer|lehrerin|praktikant|praktikantin|prof|jemand|leute|meldung
artículo|anuncio|publicidad|foro|foros|vídeo|libro|documentación|especificación|hilo|amigo|amiga|compañero|compañera|cuñado|cuñada|hermano|suegro|colega|vecino|vecina
profe|profesor|profesora|becario|becaria|primo|prima|gente|alguien
"""
)
_TELLS = phrases(
    """
says|said|say|thinks|think|claims|claimed|recommends|suggests|tells|told|insists|argues|believes|swears|states|reckons
mentions|mentioned|advises|according|complains|heard
sagt|sagte|sagen|meint|meinte|meinten|meinen|behauptet|behaupten|schwört|empfiehlt|rät|schreibt|steht
stand|heißt|laut|meckert|gelesen|gehört
dice|dicen|dijo|dijeron|decía|decían|pone|ponía|cree|creen|opina|opinan|afirma|afirman|recomienda|asegura|cuenta|según
queja|leí|oí
"""
)
_OTHERS = phrases("they|he|she|er|ellos|ellas|él|ella")
_SAID = phrases(
    "said|say|says|claimed|claims|told|insisted|sagte|sagt|meinte|meint|behauptete|behauptet|dijo|dijeron|decía|decían|dice"
    "|dicen|afirma|aseguraba"
)
_HEARSAY_ZH = re.compile(
    r"^\W*(?:哈哈|嗯|哦)?[,，]?(?:他|她|他们|人家)?(?:还|也|又)说|网上|论坛|有人[说讲]|听说|据说|文章[^，。]{0,6}说|博客|(?:朋友|[老讲]师|师[兄姐]|实习生|邻居|专家|网友|同学|亲戚|博主|作者)[^，。]{0,4}(?:说|觉得|一直|总)"
    r"|(?:文档|教程|视频|书|readme|stackoverflow|需求单|规范)[里上中]*(?:说|写)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")
_SUPPOSED = re.compile(
    r"^\W*(?:(?:and|but|so|well|hm+|und|aber|y|pero)\s+)*(?:if (?:we|i|you|one|somebody|someone)\s+"
    r"(?:were|had|ever|could|did|\w+ed)\b|suppos(?:e|ing)\b|imagine\b|assuming\b|assume\b|what if\b|let's say\b|"
    r"say we\b|hypothetically\b|in theory\b|theoretically\b|some ?day\b|one day\b|i'm (?:thinking|"
    r"considering|toying)\b|"
    r"thinking (?:about|of)\b|angenommen\b|stell dir vor\b|was wäre\b|nehmen wir an\b|theoretisch\b|irgendwann\b|"
    r"falls (?:wir|ich|man)\s+(?:mal|irgendwann|je)\b|ich überlege\b|supongamos\b|imagina\w*\b|"
    r"digamos que\b|en teoría\b|"
    r"alg[uú]n día\b|si alg[uú]n día\b|estoy pensando\b|[¿ ]*y si\b)"
    r"|^\W*(?:wenn|falls)\b[^.!?]*\b(?:würden?|hätten?|wären?|könnten?|müssten?|bräuchten?)\b"
    r"|^\W*si\b[^.!?]*(?:[áéí]ramos|[áéí]semos|iera\w*|ara\w*|ría\w*)\b"
    r"|^\W*(?:假如|假设|假定|要是|如果(?:以后|哪天|有一天|我们以后)|哪天|理论上|万一|想象|我?在考虑)",
    re.IGNORECASE,
)
_RETRACTED = re.compile(
    r"^\W*(?:(?:no|oh|ah|hm+|actually|sorry|wait|ok|okay|ach|nein|doch|y|bueno|perdón|mejor|哦|不|嗯|啊)[,，!.\s]+)*"
    r"(?:scratch that|strike that|forget (?:it|that|what i|about that|my last)|ignore (?:that|what i|my last)|"
    r"disregard (?:that|my|what)|cancel that|i take (?:that|it) back|vergiss (?:das|es)|vergesst das|streich das|"
    r"ignorier das|(?:ich )?nehme? (?:das|es) zurück|kommando zurück|(?:lieber |dann )?doch nicht\b|"
    r"olv[ií]da(?:lo|te| eso|d)|"
    r"ignora (?:eso|lo anterior|lo que)|retiro lo (?:dicho|anterior)|cancela eso|算了|还是算了|当我没说|"
    r"收回(?:刚|上|前)|"
    r"忽略(?:上|刚|前)|刚才(?:说的)?(?:不算|作废))",
    re.IGNORECASE,
)
_PROMISED = re.compile(
    r"^\W*(?:understood|noted|duly noted|will do|got it|acknowledged|agreed|good to know|point taken|from now on|"
    r"i'll (?:keep|stick|remember|follow|do that|make sure|use .{1,40} from now)|i won't|ok(?:ay)?, (?:i'll|noted|"
    r"understood|got it|from now)|verstanden|notiert|ist notiert|vermerkt|gemerkt|alles klar|gut zu wissen|"
    r"merk\w* ich|"
    r"ich (?:merke|halte|achte)|mach\w* ich|wird gemacht|in ordnung|entendido|anotad[oa]|de acuerdo|tomo nota|"
    r"comprendido|queda anotado|lo (?:tendré|recordaré|anoto)|así lo haré|明白|记住|记下|收到|了解|知道了|"
    r"好的?[，,]\s*(?:以后|记|明白))",
    re.IGNORECASE,
)


def hearsay(plain: str) -> bool:
    """Tell whether a sentence reports what somebody outside the work says: an article, a friend, the docs."""
    words = set(_WORD.findall(plain.lower()))
    if not words.isdisjoint(_TELLS) and not words.isdisjoint(_SOURCES):
        return True
    if not words.isdisjoint(_SAID) and not words.isdisjoint(_OTHERS):
        return True
    return _HAN.search(plain) is not None and _HEARSAY_ZH.search(plain) is not None


def supposed(plain: str) -> bool:
    """Tell whether a sentence only supposes."""
    return _SUPPOSED.match(plain) is not None


def retracted(plain: str) -> bool:
    """Tell whether a sentence takes back what was said before it."""
    return _RETRACTED.match(plain) is not None


def promised(reply: str) -> bool:
    """Tell whether an agent's answer takes the message before it as a rule to keep."""
    return _PROMISED.match(reply) is not None
