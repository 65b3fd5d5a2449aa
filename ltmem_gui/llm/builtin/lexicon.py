"""Hold the cue words of durable and passing speech, by kind, for English, German and Spanish.

A cue is a phrase of one to five words in lower case, compared word by word, so a lookup costs a dictionary access.
Chinese has no spaces and is matched in `chinese.py`. Kinds follow grammar, not topics: what makes a sentence outlive
its session is its quantifier, its modality, its aspect and who it is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MAX_WORDS = 5

_GENERAL = """
always|never|ever again|every time|each time|whenever|everywhere|from now on|from here on|from today|from today on
going forward|in future|in the future|for the future|for future|for next time|next time|as a rule|rule of thumb
by default
generally|in general|remember|keep in mind|bear in mind|note for|please note|take note|henceforth|permanently
no matter
mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|weekends|at night|nightly|hourly|daily|weekly
monthly|yearly
montags|dienstags|mittwochs|donnerstags|freitags|samstags|sonntags|am wochenende|nachts|täglich|wöchentlich
monatlich
los lunes|los martes|los miércoles|los jueves|los viernes|los sábados|los domingos|fines de semana|por la noche
a diario
without exception|no exceptions|at all times|for good|anything|anyone|nothing|nobody|everyone|everything|regardless
each|every|any|all|whatever|wherever|under no circumstances|on no account|at any time|ever|universally
across the board
nowhere|standing rule|long term|usually|normally|typically|by convention|mandatory|without fail|as a matter of
habitually|invariably|day one|for all|once and for all|in every|on every|with every|for every|per default
immer|nie|niemals|jedes mal|jeder|jede|jedes|jeden|jedem|alle|allen|alles|überall|ab jetzt|ab sofort|von jetzt an
von nun an|ab heute|künftig|zukünftig|in zukunft|für die zukunft|fürs nächste mal|beim nächsten mal|nächstes mal
grundsätzlich|generell|prinzipiell|in der regel|standardmäßig|merk dir|merke dir|denk daran|denk dran|stets
dauerhaft
nur noch|auf keinen fall|unter keinen umständen|keinesfalls|sämtliche|ausnahmslos|ohne ausnahme|niemand|nirgends
wann immer
normalerweise|üblicherweise|bitte beachte|beachte|jeweils|durchgehend|durchweg|nichts|in jedem fall|verbindlich|pro
siempre|nunca|jamás|cada vez|cada|todo|toda|todos|todas|en todas partes|a partir de ahora|de ahora en adelante
desde hoy
desde ahora|en adelante|en el futuro|para la próxima|la próxima vez|por defecto|por norma|por regla general
en general
recuerda|recuerden|ten en cuenta|tened en cuenta|acuérdate|sin excepción|bajo ningún concepto|en ningún caso
cualquier
nadie|ningún|ninguna|normalmente|como norma|habitualmente|obligatorio|cualquiera|de aquí en adelante|en lo sucesivo
"""

# A quantifier that is no rule by itself: counts less than "always".
_WEAK_GENERAL = """
mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|weekends|at night|nightly|hourly|daily|weekly
monthly|yearly
montags|dienstags|mittwochs|donnerstags|freitags|samstags|sonntags|am wochenende|nachts|täglich|wöchentlich
monatlich
los lunes|los martes|los miércoles|los jueves|los viernes|los sábados|los domingos|fines de semana|por la noche
a diario
each|every|any|all|anything|anyone|nothing|nobody|everyone|everything|whatever|wherever|ever|usually|normally
typically
jeder|jede|jedes|jeden|jedem|alle|allen|alles|niemand|nichts|normalerweise|üblicherweise|jeweils|pro|next time
cada|todo|toda|todos|todas|cualquier|nadie|ningún|ninguna|normalmente|cualquiera|habitualmente|generally|in general
"""

_DEONTIC = """
must|mustn't|must not|have to|has to|need to|needs to|needs|need|requires|require|required|should|shouldn't
should not
may only|may not|can't|cannot|can only|not allowed|isn't allowed|allowed|forbidden|prohibited|off limits
off-limits
capped|limited to|limit is|at most|at least|policy|rule is|rules|convention|agreed|no more than|not permitted
ought to
supposed to|make sure|ensure|be sure to|mind the|has got to|got to|hard limit|max|maximum|minimum|exclusively
strictly
is a must|the house|sign-off|approval|requirement|won't accept|don't accept|refuses|insists|insist|banned|bans
expects|expect
muss|musst|müssen|müsst|darf|darfst|dürfen|dürft|soll|sollst|sollen|sollte|sollten|brauchen|braucht|benötigt
benötigen
ausschließlich|höchstens|mindestens|maximal|minimal|verboten|nicht erlaubt|erlaubt|pflicht|vorgeschrieben
zwingend
vereinbart|vorgabe|richtlinie|regel|gehört|gehören|tabu|untersagt|achte darauf|achte auf|stell sicher|freigabe
debe|debes|deben|debemos|hay que|tiene que|tienes que|tienen que|tenemos que|necesita|necesitan|necesitas
requiere|requieren
como máximo|como mínimo|máximo|mínimo|prohibido|no se puede|no se puedan
no se permite
está prohibido|permitido|acordado|norma|política|exige|exigen|asegúrate|asegúrate de|no puede|no pueden|se debe
se deben
"""

# Words that leave no choice: they say more than "should" and "need".
_STRICT = """
must|mustn't|must not|has to|have to|not allowed|forbidden|prohibited|off limits|off-limits|under no circumstances
muss|müssen|darf nicht|dürfen nicht|verboten|nicht erlaubt|zwingend|untersagt|tabu|pflicht
debe|deben|hay que|prohibido|está prohibido|no se permite|obligatorio
"""

_PREFERENCE = """
i prefer|i'd prefer|we prefer|i like|i'd rather|i would rather|i want|i hate|i dislike|i don't like|i don't want
i favour
i favor|prefer|preferred|preference|rather have|my style|house style|our style|i'm used to|i can't stand|i find
i always
i usually|we like|we favour|we favor|we hate|my preference|i'm not a fan|not a fan|is my go-to|go-to
pet peeve
i expect|bugs me|annoys me|works best for me|i read|i only|i work|i'm allergic|allergic to|team prefers|nicer for me
ich bevorzuge|bevorzuge|ich mag|ich will|ich möchte|ich hätte gern|lieber|am liebsten|mir ist lieber|mir wäre lieber
ich hasse|ich arbeite|ich lese|ich nutze|ich verwende|wir bevorzugen|mir ist wichtig|ich finde|ich brauche
prefiero|preferimos|me gusta|me gustan|no me gusta|no me gustan|me gustaría|odio|quiero|no quiero|mejor
trabajo con|yo uso
prefiero que|me molesta|suelo|solemos
"""

_HABIT_FIRST = """
we|our|ours|us|our team|the team|the company|ops|our lead|my lead|my boss|my manager|my team|legal|security team
compliance
the client|the customer|our client|our customers|our users|finance|management|the board|auditors|our designers
wir|uns|unser|unsere|unseren|unserem|unserer|unseres|bei uns|das team|die firma|der kunde|mein chef|meine chefin
nosotros|nuestro|nuestra|nuestros|nuestras|el equipo|la empresa|el cliente|mi jefe|mi jefa|usamos|trabajamos
guardamos
tenemos|escribimos|publicamos|desplegamos|hacemos|ponemos|llamamos|nombramos|mantenemos|seguimos|utilizamos
empleamos
enviamos|medimos|calculamos|probamos|versionamos|revisamos|documentamos|almacenamos|generamos|fijamos|facturamos
cobramos
"""

_HERE = """
in this repo|in this repository|in this project|in this codebase|in this code base|in this package|in this team
around here
over here|for this project|for this repo|for this client|for this customer|in this org|in this company
in this workspace
on this machine|on this box|on this laptop|on my machine|on my laptop|on my box|this repo|this project|this codebase
this machine|this laptop|this box|our repo|our codebase|on our side|in our|on our|for our|here|in this house
this team
in diesem repo|in diesem projekt|in diesem repository|auf diesem rechner|auf meinem rechner|hier|bei uns|in unserem
dieses projekt|dieses repo|hierzulande|im team|im projekt|auf unserem|auf dieser maschine
en este repo|en este proyecto|en este repositorio|en esta máquina|en mi máquina|en este equipo|aquí|en nuestro
en nuestra
este repo|este proyecto|acá
"""

_STATIVE = """
defaults to|default to|kicks off|kick off|fires|come out of|comes out of|come out|comes out|run under|lives in
live in|lives at
lives under|lives on|live under|resides in|sits in|sits on|sits behind|stands for
is stored
are stored|is kept|are kept|is located|are located|is generated|are generated|is managed|are managed|is owned
are owned
is called|are called|is named|are named|is pinned|are pinned|is hosted|are hosted|is deployed|are deployed|is built
are built|is written in|are written in|is defined|are defined|is configured|are configured|is served|points to
points at
point to|point at|owns|belongs to|belong to|belong on|belongs on|belong in|belongs in|belong under|relies on
rely on|depends on|depend on|runs|runs on|runs in|runs at
runs under
runs every|run on|run in|run every|run at|goes to|goes through|go to|go through|go in|go into|go under|goes in
goes into|goes under|comes from
come from|listens on|listen on|uses|use|expects|holds|means|returns|supports|accepts|breaks|break|gets reverted
talks to|leaks|leak|contains|contain|takes|counts|equals|starts with|start with|ends with|end with|begins with
is in|are in|is at|are at|is on|are on|is under|are under|is behind|are behind|is the|are the|is a|is an|is our
are our
is not|isn't|are not|aren't|doesn't|don't|does not|do not|comes with|ships with|ship with|reads from|read from
writes to
serves|handles|keeps|wants|wins|rejects|ignores|drops|locks|holds locks|times out|reject|ignore|refers to
maps to|follows
follow|stays on|stay on|stays in|stay in|stays at|stays|stay|remains|remain|is written|are written|lists|covers
works only|work only|requires
is frozen|are frozen|is deprecated|are deprecated|is read-only|are read-only|is off|are off|is always|are always
sends
speaks|speak|is required|are required|is mandatory|has|have|happens|happen|land in|lands in|changes
change through|is derived
are derived|is set|are set|is measured|are measured|is reserved|are reserved|is shared|are shared|is based|are based
is mounted|are mounted|is synced|are synced|closes|opens|ships|reboots|restarts|resets|overwrites|overwrite
is signed|are signed
is limited|are limited|is billed|are billed|is published|are published|is reviewed|are reviewed|is tested|are tested
is released|are released|feeds|feed|rotates|rotate|expires|expire|can only|live on|is
are|liegt|liegen|läuft|laufen|heißt|heißen|gehört|gehören|verwendet|verwenden|nutzt|nutzen|benutzt|benutzen
steht|stehen|ist|sind|wird|werden
kommt|kommen|zeigt auf|hängt ab|hängen|erwartet|erwarten|enthält|enthalten|bedeutet|gilt|gelten|fehlt|fehlen|hat
haben|beginnt|beginnen
endet|enden|lauscht|schreibt|schreiben|speichert|speichern|bleibt|bleiben|geht über|gehen über|geht|gehen|stammt
stammen
zählt|zählen|unterstützt|liefert|liefern|arbeitet|arbeiten|sperrt|bricht|akzeptiert|basiert|basieren|startet
befindet
befinden|landen|landet
vive|viven|está|están|es|son|usa|usan|utiliza|utilizan|pertenece|pertenecen|depende|dependen|corre|corren
escucha|espera
cuenta como|cuentan como|no cuenta|no cuentan|caduca|caducan|cierra|cierran|abre|abren|vence|vencen|llega|llegan
contiene|contienen
significa|devuelve|se llama|se llaman|se guarda
se guardan|se genera|se generan|se encuentra
apunta
va|van|viene|vienen|funciona|funcionan|acepta|rompe|empieza|empiezan|termina|lleva|llevan|se ejecuta|se ejecutan
se despliega
se escribe|se escriben|se publica|se publican|se usa|se usan|sigue|siguen|queda|quedan|tiene|tienen|se hace
se hacen|requiere
"""

# A copula alone says little ("the button is blue"): it counts less than a verb that names a relation.
_ONLY = """
only|nur|solo|sólo|solamente|únicamente|exclusively|ausschließlich
"""

_COPULA = """
is|are|is the|are the|is a|is an|is not|isn't|are not|aren't|doesn't|don't|does not|do not|has|have|use|break
change|changes|follow|takes|holds|happens
ist|sind|wird|werden|hat|haben|geht|gehen|es|son|está|están|tiene|tienen|va|van|steht|stehen|kommt|kommen|stay
stays|counts|closes|opens|is set|are set
"""

_CAUSE = """
because|since|otherwise|or else|so that|that's why|due to|the reason|the reason is|that way|to avoid|or it
or they|or we
would break|will break|would be bad|breaks|beyond that|hence|therefore|as that|else|get lost|gets lost|vanish
vanishes|overwritten|reverted|wiped|chokes|choke|upset|picky|bans us|complains|complain|on account of|in case
or the
so we
denn|weil|sonst|damit|wegen|deshalb|deswegen|ansonsten|andernfalls|der grund|da sonst|um zu vermeiden|daher|nämlich
porque|así que|por lo que|por lo tanto|ya que|si no|de lo contrario|para que|por eso|debido a|para evitar|pues
la razón|el motivo|puesto que
dado que
"""

_INSTEAD = """
instead|instead of|rather than|not the|not just|not with|not in|not on|not via|not by|and not|but not|over
in favour of|in favor of
not npm|not pip|in place of|as opposed to|never the|not a|not an|in preference to|and never|no longer
statt|stattdessen|anstatt|anstelle|sondern|nicht mit|nicht in|nicht im|nicht über|nicht den|nicht die|nicht das
und nicht|nicht mehr|aber nicht
en vez de|en lugar de|sino|y no|no en|no con|antes que|ya no|no el|no la|pero no
"""

_CORRECTION_START = """
no|nope|nah|wrong|not like that|that's wrong|that is wrong|that's not right|not quite|wait|stop|careful|actually
hold on
hang on|whoa|hey|ah no|oh no|err no|hm no|hmm no|not so fast|watch out|beware|heads up|heads-up|please don't
undo|revert that|i said|i told you
again|as i said|like i said|correction|attention|caution|warning|uh|ugh|hm|hmm|one thing|just so you know|fyi
for the record
nein|nee|halt|stopp|falsch|moment|vorsicht|eigentlich|achtung|nicht so|so nicht|warte|das stimmt nicht
wie gesagt|oje|ach nein|hinweis|übrigens|zur info
espera|cuidado|para|mal|en realidad|alto|eso no|así no|ojo|de hecho|incorrecto|no no|detente|un momento|te dije
ya te dije|nota|por cierto
btw|by the way|note
"""

_TRANSIENT = """
today|tonight|tomorrow|heute|hoy
for now|just this once|this time|this once|only this time|just once|one-off|one off|temporarily|temporary
for the moment|in a minute|in a moment|this run|this session|this afternoon|this morning|this evening|this one
for today|just for this|for this one|nevermind|never mind|still failing|just for now|until tomorrow|until monday
until friday|as a test|for testing only|quick hack|this week only|next week|for the time being|in the meantime
an hour ago|just now|on the train|be right back|brb|afk|this branch|this pr|this commit|this ticket|for the demo
until i|till i|this sprint|diesmal|dieses mal|dieses eine mal|vorerst|fürs erste|heute abend|einmalig
nur dieses mal|nur heute|vorläufig|ausnahmsweise|bis morgen|erstmal|kurz mal|für diesen|für jetzt|nur diesmal
übergangsweise|nur kurz|por ahora|esta vez|solo esta vez|sólo esta vez|ahora mismo|temporalmente|esta tarde
esta noche|provisionalmente|por hoy|esta mañana|una sola vez
"""

# Words of a moment that lasting statements hold too ("is being phased out just now"): they weigh, but do not decide.
_MOMENT = """
right now|at the moment|currently|later|this week|meanwhile|yesterday|last night
already done|in a bit|while i|this month|hold off|momentan|im moment|gerade|morgen|später|gleich
jetzt erstmal|gestern|zurzeit|derzeit|noch nicht|de momento|por el momento|mañana|más tarde|luego
provisional|en este momento|ayer|esta semana|todavía no|aún no
"""

_COMPLAINT = """
broken|failing|fails|failed|ugly|too big|too small|too long|too short|too wide|too dark|too slow|too loud
looks off|looks wrong|looks bad
looks odd|looks weird|is missing|are missing|is wrong|are wrong|is empty|is red|is down|are down|is stuck
crashes|crashed
doesn't work|does not work|isn't working|not working|still broken|stale|flickers|overlaps|overlap|misaligned
cut off|cropped
is slow|are slow|hangs|unreadable|doesn't load|won't open|won't start|keeps crashing|keep dying|is off
error again|throws|shows|typo
kaputt|schlägt fehl|schlagen fehl|funktioniert nicht|geht nicht|zu groß|zu klein|zu lang|zu kurz|zu dunkel
zu breit|zu langsam|hässlich
abgeschnitten|hängt|stürzt ab|ist falsch|sieht komisch|sieht falsch|rot|leer|klappt nicht|flackert|überlappt
tippfehler
roto|rota|falla|fallan|no funciona|no funcionan|demasiado|muy grande|muy pequeño|está mal|se ve mal|vacío
se cuelga|errata
"""

_COMPARATIVE = """
a bit|a little|slightly|bigger|smaller|darker|lighter|shorter|longer|wider|narrower|higher|lower|brighter|bolder
nicer
more|less|again|once more|one more|another|other one|to the right|to the left|the other|more compact|simpler
cleaner|louder|softer
etwas|ein bisschen|ein wenig|größer|kleiner|dunkler|heller|kürzer|länger|breiter|schmaler|höher|noch mal|nochmal
noch ein|noch eine
weiter|nach rechts|nach links|un poco|más|menos|otra vez|de nuevo|otro|otra|a la derecha|a la izquierda
"""

_HEDGE = """
maybe|perhaps|probably|i think|i guess|might|not sure|i wonder|could be|possibly|i suppose|seems|looks like
apparently|let me
vielleicht|wahrscheinlich|ich glaube|ich denke|könnte|bin nicht sicher|scheint|wohl|möglicherweise
quizás|quizá|tal vez|creo que|probablemente|puede que|no estoy seguro|parece
"""

_SELF_TASK = """
i'll|i will|i'm going|i am going|i'm trying|i was|i did|i tried|i just|i've|i have to|i need|i need you
i want you|i want to|i'd like to|i'd like you
let's|let us|can we|shall we|could you|can you|would you|we need a|we need an|we should probably|i have a|i got
i ran|i'm writing|i'm working|i'm building
help me|what about|how about|lass uns|ich werde|ich habe|ich war|kannst du|könntest du|ich brauche|ich will
ich möchte|ich muss|hilf mir
vamos a|voy a|necesito|puedes|podrías|he probado|ayúdame|estoy|quiero que|tengo que|me puedes
"""

_EMPTY_TALK = """
always wondered|always wanted|never heard|never knew|never mind|as always|no worries|no problem|no rush|no need
don't worry
not at all|nothing else|that's all|that is all|all good|all set|all done|all right|i never knew
never seen|nothing more
no idea|anything else|every day i learn|remember me|all the best|for everything|thanks for everything
everything works|all green|all tests pass
keine ahnung|kein problem|keine eile|nichts weiter|alles gut|alles klar|das ist alles|wie immer|passt alles
nie gehört|alles grün|mach dir keine
nada más|no pasa nada|no te preocupes|sin prisa|eso es todo|todo bien|ni idea|como siempre|nunca lo supe
todo en orden
"""

_FUTURE_RULE = """
we decided|we agreed|we've decided|we've agreed|we settled on|we switched to|we moved to|we migrated|we dropped
we standardised on
we standardized on|decided against|the decision|it was decided|i decided|changed my mind|we chose|we went with
we went for|we've moved|we've switched
team agreed|we picked|we landed on|we stopped|has been decided|are done with|moved off|we retired
wir haben uns|beschlossen|entschieden|haben entschieden|umgestellt|umgestiegen|vereinbart|abgeschafft
wir sind auf|geeinigt
decidimos|acordamos|hemos decidido|hemos acordado|nos pasamos a|migramos|descartamos|elegimos|dejamos de
optamos por|cambiamos a
"""

_AUTHORITY = """
per our|according to|ops|legal|the lead|our lead|security|compliance|the auditors|the client|the customer|policy
the boss|my manager|product owner
says|said|insists|wants|requires|asked us|demands|told us|laut|kunde|chef|betriebsrat|datenschutz|vorgabe|según
el cliente|el jefe|legal exige|auditoría
"""

_MY_WORLD = """
my local|my laptop|my machine|my editor|my shell|my terminal|my python|my setup|my keyboard|my name|my timezone
my time zone|my team|my screen|i'm on|i am on
i work|i use|i run|there's no|there is no|there are no|no internet|no pip|no sudo|no root|we have no
i don't have|i have no|i'm colour|i'm color|colour-blind|color-blind
we're on|we are on|we're stuck|we are stuck|stuck on|mein rechner|mein laptop|mein editor|meine shell|mein name
ich arbeite|ich nutze|ich benutze
ich verwende
es gibt kein|es gibt keine|es gibt keinen|wir haben kein|wir haben keine|ich habe kein
mi portátil|mi máquina|mi editor|mi equipo|mi nombre|trabajo en|yo uso|uso|no hay|no tenemos|no tengo
"""

_NEGATION_START = """
don't|do not|dont|never|no more|avoid|stay away|keep away|refrain|please don't|please do not|please never
you must not|you mustn't|quit
nie|niemals|kein|keine|keinen|nicht|bitte nicht|bitte nie|bitte keine|bitte kein|bitte keinen|vermeide
finger weg|lass die finger
no|nunca|jamás|evita|por favor no|prohibido|nada de|no me|no lo
"""

# Verbs of lasting conduct: with a bare object they state a habit ("use tabs", "keep commits small").
_HABIT_VERBS = """
use|keep|prefer|follow|stick|name|prefix|write|tag|ask|answer|reply|respond|put|format|sort|log|commit|call
treat|stay|quote
store|test|document|pin|branch|squash|rebase|sign|cite|round|round-trip|wrap|indent|spell|address|explain|report
start|target|go
speak|talk|talk to|indent|assume|leave|route|deploy|push|release|ship|open|mock|validate|read|check|cc|ping
mention|bump|skip
nutze|nutz|benutze|benutz|verwende|verwend|schreib|schreibe|antworte|antwort|frag|frage|halte|halt|lege|leg
nenne|nenn|sprich|benenne|speichere|speicher
formatiere|sortiere|teste|führe|starte|prüfe|dokumentiere|runde|gib|zeig|nimm|bleib|kommentiere|committe|rechne
setze|setz
usa|usad|utiliza|emplea|escribe|responde|contesta|pregunta|mantén|pon|llama|guarda|sigue|prefiere|habla|ordena
nombra|ejecuta|prueba|documenta|redondea|comenta|incluye|deja|revisa|avísame|consulta|haz
"""

# Verbs of a single change: without a quantifier they are the work at hand.
_CHANGE_VERBS = """
have|add|remove|change|move|rename|fix|make|create|update|delete|refactor|implement|build|install|rerun|re-run
generate|show|list|find|look|see|tell
give|try|set|replace|convert|merge|split|extract|draw|plot|print|open|close|undo|revert|restore|drop|rewrite
shorten|translate|summarise|summarize
explain|check|review|debug|profile|figure|help|retry|continue|proceed|finish|paste|copy|write|do|get|let|take
bring|turn|increase|decrease|reduce|swap
reorder|align|center|centre|resize|colour|color|highlight|bold|cut|insert|append|prepend|improve|optimise
optimize|speed|clean|tidy|upgrade|downgrade|sort|search
compare|describe|draft|redo|regenerate|reformat|mark|hide|enable|disable|run|commit|push|ship|deploy|test|merge
start|stop|kill|restart|export|import|put|read|count|compute|calculate|load|fetch|download|send|investigate
adjust|tweak|crop|scale|zoom|raise|lower
füge|füg|entferne|ändere|änder|verschiebe|verschieb|benenne|behebe|behebt|korrigiere|mach|mache|erstelle|erstell
aktualisiere|lösche|lösch|baue|bau|installiere|zeige|zeig|liste|finde|such|suche
sag|gib|probier|probiere|ersetze|ersetz|übersetze|übersetz|erkläre|erklär|prüfe|prüf|schau|schreib|schreibe
starte|kürze|kürz|verkleinere|vergrößere|refaktoriere|implementiere|ergänze|ergänz|berechne|nimm|setz|setze
teile|teil|lies|führ|führe|öffne|schließ
añade|agrega|quita|elimina|cambia|mueve|renombra|arregla|corrige|haz|crea|actualiza|borra|refactoriza|implementa
construye|instala|genera|muestra|muéstrame|lista|busca|encuentra
dime|dame|prueba|reemplaza|convierte|traduce|resume|explica|revisa|escribe|ejecuta|sube|baja|abre|cierra
continúa|vuelve|pon|ponle|calcula|mira|pasa|alinea|reduce|aumenta|separa|divide|compara|pinta|dibuja|ayúdame
"""

_DETERMINERS = """
the|a|an|this|that|these|those|it|them|its|my|your|his|her|both|one|another|him|me|there|two|three|some
der|die|das|den|dem|des|ein|eine|einen|einem|einer|diese|dieser|dieses|diesen|es|sie|ihn|mir|mal|noch|bitte|beide
el|la|los|las|un|una|unos|unas|este|esta|estos|estas|ese|esa|esto|eso|lo|le|me|les|aquel|dos
"""

_OPENERS = """
haha|lol|ha|hehe|hi|hello|ok|okay|and|also|then|now|so|well|hm|hmm|great|nice|good|cool|please|pls|btw|oh|ah|yes
yeah|yep|right|perfect
thanks|but|plus|just|alright|fine|lovely|sure|super
one more thing|by the way|for the record|fyi|note|in addition|additionally|next|finally|first|second|again
und|auch|dann|jetzt|also|nun|gut|super|prima|bitte|ja|genau|danke|aber|außerdem|ansonsten|übrigens|noch was|ach
tja|perfekt|klasse|passt|okay
y|también|además|entonces|ahora|bueno|bien|vale|sí|por favor|gracias|genial|perfecto|pero|por cierto|oye|ah|listo
"""

_FEATURES = {
    "general": _GENERAL,
    "weak_general": _WEAK_GENERAL,
    "deontic": _DEONTIC,
    "strict": _STRICT,
    "preference": _PREFERENCE,
    "we": _HABIT_FIRST,
    "here": _HERE,
    "stative": _STATIVE,
    "copula": _COPULA,
    "only": _ONLY,
    "cause": _CAUSE,
    "instead": _INSTEAD,
    "transient": _TRANSIENT,
    "moment": _MOMENT,
    "complaint": _COMPLAINT,
    "comparative": _COMPARATIVE,
    "hedge": _HEDGE,
    "self_task": _SELF_TASK,
    "empty_talk": _EMPTY_TALK,
    "decision": _FUTURE_RULE,
    "authority": _AUTHORITY,
    "my_world": _MY_WORLD,
}


def phrases(block: str) -> frozenset[str]:
    """Return the cues of a block of `|`-separated lines."""
    return frozenset(cue.strip() for line in block.split("\n") for cue in line.split("|") if cue.strip())


def _index() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for feature, block in _FEATURES.items():
        for cue in phrases(block):
            found.setdefault(cue, set()).add(feature)
    return MappingProxyType({cue: frozenset(features) for cue, features in found.items()})


CUES = _index()
CORRECTION_START = phrases(_CORRECTION_START)
NEGATION_START = phrases(_NEGATION_START)
HABIT_VERBS = phrases(_HABIT_VERBS)
CHANGE_VERBS = phrases(_CHANGE_VERBS)
DETERMINERS = phrases(_DETERMINERS)
OPENERS = phrases(_OPENERS)
