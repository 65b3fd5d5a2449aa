"""Hold the turns of speech that single cue words cannot tell: bans, asides, wishes about the piece at hand, stories."""

from __future__ import annotations

import re

from ltmem_gui.llm.builtin.lexicon import phrases

WORD = re.compile(r"[\w@][\w'’.\-/]*[\w']|\w")
ANCHOR = re.compile(
    r"`[^`\n]+`|(?<![\w])(?:[\w.@-]+/)+[\w.@*-]*|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|--?[a-z][\w-]+(?==|\b)|"
    r"\b[\w-]+\.(?:py|toml|ya?ml|json|md|ts|tsx|js|rs|go|sh|cfg|ini|env|sql|csv|lock|txt|conf|test|"
    r"internal|local|dev|corp)\b"
    r"|\b\w+_\w+\b|\bv?\d+\.\d+(?:\.\d+)?\b|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z]+[A-Z]\w*|\b[A-Z]{2,}[a-z]?\b|"
    r"(?<=\s)[A-ZÄÖÜ][\w-]{2,}|\b\d+\s?(?:[a-zA-Z%€$£]\w*)?|@\w+|#\w+|[€$£]\d"
)
QUESTION_START = re.compile(
    r"^(?:what|why|how|where|who|when|which|is|are|do|does|did|can|could|would|will|shall|should|has|have|"
    r"was|were|any|anything|anyone"
    r"|was|warum|wie|wo|wer|wann|welche[rsn]?|ist|sind|hast|hat|kann|kannst|könntest|gibt|soll|woher|"
    r"wieso|qué|por qué|cómo|dónde|quién|cuándo|cuál|puedes|hay|es)\b",
    re.IGNORECASE,
)
SUBORDINATE = re.compile(r"\b(?:that|which|who|so it|so that|dass|das|der|die|que)\b")
LIMIT = re.compile(
    r"\b(?:above|below|beyond|over|under|within)\s+\d|\b(?:at most|at least|no more than|up to|"
    r"max(?:imum)?|min(?:imum)?|limit\w*|cap(?:ped)?|höchstens|"
    r"mindestens|maximal|como máximo|máximo)\b.{0,30}\d|\d.{0,12}\b(?:max|tops|höchstens)\b"
)
ARROW = re.compile(r"\s(?:->|=>|→|==|=)\s|^[^.!?]{2,40}: \S")
POLITE = re.compile(r"(?:can|could|would|will|kannst|könntest|puedes|podrías)\b")
OPINION = re.compile(
    r"\bi (?:like|love|want|prefer|hate|don't like|dislike)\s+(?:(?:it|this|that|these|those)\b|(?:\w+\s+){0,2}"
    r"(?:one|ones|version|option|idea|draft|better)\b)|\bi (?:dis)?agree\b|\bi don't think\b"
    r"|\b(?:i|ich) (?:always |never |immer |nie )?(?:mix|forget|confuse|struggle|wonder|mess|vergesse|verwechsle)\b"
    r"|\b(?:me|siempre) (?:confundo|olvido)\b"
)
SEEMS = re.compile(
    r"^(?:the|this|my|it)\s+(?:\w+\s+){1,3}nothing\b|"
    r"\b(?:looks?|sounds?|feels?|seems?)\s+(?!like\b|for\b|up\b|in\b|at\b|into\b|after\b)\w+|\b(?:sieht|"
    r"klingt|wirkt)\s+\w+"
    r"|\bse ve\b|\bparece\b|\b(?:is|are|looks?|was|were|got|a bit|still|way|now)\s+too\s+\w+|\b(?:ist|"
    r"sind|wird|noch|viel|etwas)\s+(?:mir\s+|uns\s+)?zu\s+\w+"
    r"|\b(?:moves?|runs?|loads?|comes?|starts?|feels?)\s+(?:too|a bit|a little)\s+\w+"
)
SHOULD_BE = re.compile(
    r"^(?:and\s+|also\s+|but\s+|und\s+|y\s+)?(?:the|this|that|der|die|das|el|la|los|"
    r"las)\s+(?:[a-zäöüßñáéíóú-]+\s+){1,3}(?:should|could|can|may|might|needs to|need to|soll(?:te)?n?|"
    r"darf|kann|könnte|debería|puede)\b"
)
ORDINAL = re.compile(
    r"\b(?:the|der|die|das|el|la) (?:first|second|third|fourth|last|next|other|top|bottom|upper|lower|"
    r"erste|zweite|dritte|letzte|obere|untere|primer[oa]?|segund[oa]|tercer[oa]?|últim[oa])\b"
)
ASIDE = re.compile(
    r"\b(?:btw|by the way|fyi|for the record|just so you know|heads[- ]up|übrigens|nebenbei|zur info|"
    r"por cierto|para que sepas)\b"
)
CONSEQUENCE = re.compile(
    r"(?:[,;:–—]|\s-)\s*(?:so\s+|also\s+|and\s+)?(?:please\s+|bitte\s+)?(?:use|keep|stick|run|put|push|"
    r"hash|submit|filter|flash|set|go|don't|never|always|avoid|change|call|ask|write|leave|wrap|prefer|"
    r"nutze?|nimm|verwende?|nie|usa|nunca|evita)\b"
)
CONDITIONAL = re.compile(
    r"^(?:and\s+|also\s+|but\s+)?(?:if|when|whenever|once|before|after|unless|wenn|falls|bevor|nachdem|"
    r"sobald|si|cuando|antes de|después de)\b[^?]{8,}"
)
TEMPORAL = re.compile(
    r"\b(?:from (?:now|here|today) on|from today|every time|each time|whenever|by default|going forward|"
    r"in (?:the )?future|for (?:the )?future|(?:for )?next time|at all times|remember"
    r"|ab (?:jetzt|sofort|heute)|künftig|zukünftig|in zukunft|jedes mal|grundsätzlich|generell|merke? dir|"
    r"a partir de ahora|de ahora en adelante|en adelante|cada vez|por defecto|en el futuro|recuerda)\b"
)
THE = phrases("the|this|that|der|die|das|el|la|los|las")
STRONG = phrases("always|never|immer|nie|niemals|siempre|nunca|stets|remember|from")
DEICTIC = phrases("it|this|that|these|those|them|es|das|dies|diese|dieses|ihn|sie|dort|eso|esto|lo|la|aquello")
WE = phrases("we|our|wir|unsere|unser|nosotros")
PAST = re.compile(
    r"^(?:i|we|he|she|they|you|ich|wir|du)\s+(?:just\s+)?(?:was|were|did|had|went|tried|ran|saw|got|made|"
    r"changed|fixed|added|looked|asked|\w+ed|habe|hatte|war)\b"
)
PLURAL = re.compile(r"^[a-zäöüß][\w-]{2,}(?:s|en|er)$")
PASSIVE = re.compile(
    r"\b(?:is|are|gets?|be)\s+(?:\w+ly\s+)?(?:\w+ed|\w+en|made|kept|built|cut|set|run|sent|written|drawn|read)\s+"
    r"(?:from|by|in|on|at|with|via|through|under|out|after|before|to|as|for|over|against|when|only)\b"
)
DIRECTIVE = re.compile(
    r"\b(?:bitte|please|por favor)\s+(?:nur|kein\w*|nicht|no|only|nie|never|always|immer|stets|siempre|nunca)\b"
    r"|^\W*(?:nothing|nobody|nichts|niemand|nada|nadie|only|nur|solo|sólo)\s+\w+"
    r"|^\W*(?:and\s+|und\s+|y\s+)?(?:kein\w*|no)\s+(?!one\b)\w+\s+(?:in|on|after|before|without|at|im|in|"
    r"auf|nach|vor|ohne|en|sin)\s+(?!the\b|this\b|that\b)\w+"
)
NARRATIVE = re.compile(
    r"\b(?:i|we|ich|wir)\s+(?:have\s+|'ve\s+)?(?:never|always|ever)\s+(?:\w+ed|knew|had|was|thought|saw|"
    r"heard|been|got|felt|met|did)\b"
    r"|\bich (?:hab\w*|war|hatte|wusste) \w*\s?(?:nie|immer|noch nie)\b|\b(?:nunca|siempre) (?:he|había|"
    r"supe|quise|me gustó|\w+é|\w+aba)(?!\w)"
)
ACTIVE = re.compile(
    r"^(?:and\s+|also\s+|but\s+|btw\s+|yes,?\s+|right,?\s+)?[a-z][\w-]*\s+(?:only\s+|always\s+|"
    r"never\s+)?[a-z]{3,}[^s\W]s\s+"
    r"(?:off|on|in|at|to|from|with|about|the|a|an|every|all|no|our|my|before|by|for|into)\s"
    r"|^(?:and\s+|also\s+|but\s+|btw\s+|yes,?\s+|right,?\s+)?(?:the|our|"
    r"my)\s+(?:[\w-]+\s+){0,2}[\w-]*[^s\W]\s+(?:only\s+|always\s+|never\s+|also\s+)?\w{3,}[^s\W]s\s+"
    r"(?:off|on|in|at|to|from|with|out|up|the|a|an|only|every|all|no|our|my|after|before|by|for|into|\w+)"
)
VERDICT = re.compile(
    r"^(?:yep |yes |ja |haha |hm |ok |jetzt |now )*(?:that's (?:it|the one|fine|right|better|all)|"
    r"das (?:passt|ist gut)|so passt|(?:looks?|sounds?|seems?) (?:good|right|fine|great|ok)|lgtm|thanks|"
    r"thank you|thx|cheers|makes sense|good|great|nice|perfect|ok(?:ay)?|cool|yes|fine|works)\b"
)
THANKS = phrases("thanks|thank|thx|ty|cheers|danke|gracias|merci")
CONDUCT = phrases("keep|stick|follow|prefer|always|halte|halt|bleib|mantén|sigue|prefiere")
WE_NOW = re.compile(
    r"^(?:we|wir|nosotros)\s+(?:see|get|got|tried|need|want|still|now|just|could|can|should|were|did|had|"
    r"will|sehen|bekommen|könnten|sollten|hatten|vemos)\b"
)
FOREIGN_STATE = re.compile(
    r"\b(?:the|a|an|this|that|das|der|die|el|la)\s+(?:button|title|header|chart|plot|legend|colou?r|text|"
    r"image|picture|page|table|column|row|label|font|background|image|diagram|slide|bar|line|sentence|"
    r"paragraph|word|poem|story|joke|titel|überschrift|diagramm|farbe|tabelle|spalte|título|gráfico|gráfica|botón|"
    r"tabla|columna|color)\b"
)
SPOKEN_NO = re.compile(r"\W*(?:no|nein)\s*[,.!:–—-]")
SHOULD = re.compile(r"\b(?:should|shouldn't|needs? to|sollte[nt]?|soll(?:en)?|debería[n]?)\b")
SOON = re.compile(
    r"\bin (?:a |an |about |\w+ )?(?:minutes?|hours?)\b|\bby (?:\w+day|tomorrow|tonight|noon)\b"
    r"|\bsince (?:this|yesterday|last)\b|\b(?:immer noch|noch immer)\b|\bbis (?:morgen|heute|montag|freitag)\b"
)
DEGREE = re.compile(
    r"\b(?:way|much|far|a lot|even|viel|noch|deutlich) \w+er\b|\b(?:not|nicht|no) (?:so|too|quite|ganz|tan) \w+"
)
REFLEXIVE = re.compile(r"^(?:el|la|los|las|todo|todos|todas)\s+(?:\S+\s+){1,5}?se\s+\w+(?:an|en|a|e)\b")
QUOTED_NAME = re.compile(r"`[^`\n]+`|\"[^\"\n]{1,24}\"|\b\w+_\w+\b")
THE_ES = phrases("la|lo")
RELATIVE_QUANTIFIER = re.compile(
    r"\b(?:that|who|which|dass|die|der|das|que)\s+(?:\w+\s+)?(?:always|never|immer|nie|siempre|nunca)\b"
)
OWN_CONTENT = re.compile(
    r"^(?:the|der|die|das|el|la)\s+(?:name|date|address|amount|total|sum|spelling|street|sender|recipient|"
    r"subject|greeting"
    r"|datum|adresse|anschrift|betrag|summe|anrede|nombre|fecha|dirección|importe|asunto|saludo)\b"
)
CONTRAST = re.compile(r"^\S+(?:\s+\S+){2,}[,;]\s*(?:and\s+|und\s+|y\s+)?(?:not|nicht|no)\s+\w+(?:\s+\w+){0,3}[.!]?$")
PRESENT = re.compile(
    r"^(?:el|la|los|las|todo el|toda la)\s+\w+\s+(?:\w+\s+)?\w+(?:a|e|an|en)\s+(?:el|la|los|las|en|a|al|"
    r"por|con|de|desde|hasta|cada|solo|sólo)\b"
    r"|^(?:der|die|das|unser\w*)\s+\w+\s+\w+t\s+(?:in|im|am|an|auf|über|mit|ab|bei|nur|erst|um|nach|vor|von|aus)\b"
)
THESE = phrases("this|that|these|those")
AUXILIARY = phrases(
    "is|are|was|were|looks|look|should|needs|need|has|have|will|can|could|would|one|does|doesn't|isn't|"
    "aren't|seems|feels|sounds|works|makes|gives|shows"
)
