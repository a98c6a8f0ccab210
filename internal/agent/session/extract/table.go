// The table of signals: one row for each, a language and a pattern.

package extract

// signal is what a row is a sign of.
type signal int

// The signals.
const (
	asked     signal = iota // a person asks to remember
	corrects                // a person refuses what was done
	concluded               // an agent says what it found or decided
)

// row is one sign in one language. Its patterns are those of package regexp
// over what words makes of a sentence, in which each word and each mark stands
// between spaces, without diacritics: dass is written so, daß is not.
type row struct {
	signal signal
	name   string // for tests and figures
	lang   string
	words  string // the row is looked at when one of them stands in the sentence; "": in each one of Chinese or Japanese
	match  string
	not    string // the row does not count when this matches too; "" for nothing
}

// courtesy are the beginnings of a sentence, with words of courtesy.
var courtesy = map[string]string{
	"en": `^ (?:(?:please|pls|and|also|so|ok|okay|hey|yes|yeah|btw|but|then|oh|great|thanks|perfect|cool|hi|claude|codex|gemini|copilot|important|note|actually|one more thing) (?:[,.!:;-] )?)*`,
	"de": `^ (?:(?:bitte|und|auch|also|so|ok|okay|ja|ach|gut|danke|hallo|aber|wichtig|ubrigens|noch was) (?:[,.!:;-] )?)*`,
	"ru": `^ (?:(?:пожалуйста|и|также|так|ок|окей|да|а|но|спасибо|хорошо|важно|кстати) (?:[,.!:;-] )?)*`,
	"es": `^ (?:(?:por favor|y|tambien|ok|vale|si|pero|gracias|bien|importante|por cierto|oye) (?:[,.!:;-] )?)*`,
	"pt": `^ (?:(?:por favor|e|tambem|ok|certo|sim|mas|obrigado|obrigada|bem|importante|alias) (?:[,.!:;-] )?)*`,
	"zh": `^ (?:好的?|对了|另外|还有|嗯)?(?: , )?(?:请你?|麻烦你?)?`,
	"ja": `^ (?:はい|あと|また|それと|なお|そして)?(?: , )?`,
}

// plans are signs that a sentence says what is to be done, or doubts.
var plans = map[string]string{
	"en": `^ (?:now|next|first|then|todo|plan|step) | (?:let s|let me|i ll|we ll|will|should|could|would|might|may|maybe|perhaps|probably|possibly|likely|if|need to|needs to|going to|want to|want me|try|trying|seems|appears|check|see whether|to see|find out|looking for|look for|figure out|you can|you may|consider|unless|suspect|guess|hypothesis|not yet|once) `,
	"de": `^ (?:jetzt|nun|als nachstes|zuerst|dann|plan|schritt) | (?:lass mich|lassen sie mich|ich werde|wir werden|soll|sollte|sollten|konnte|konnten|wurde ich|vielleicht|wahrscheinlich|vermutlich|moglicherweise|falls|wenn|muss|mussen|versuche|scheint|prufe|suche) `,
	"ru": `^ (?:теперь|сейчас|далее|сначала|затем|план|шаг) | (?:давайте|давай|я буду|будем|нужно|надо|следует|может|могла|мог|возможно|вероятно|наверное|видимо|похоже|если|попробую|попробуем|проверю|проверим|ищу|предположительно) `,
	"es": `^ (?:ahora|agora|luego|primero|despues|plan|paso) | (?:vamos a|voy a|dejame|debemos|deberia|deberiamos|podria|podriamos|puede que|quiza|quizas|tal vez|probablemente|posiblemente|si|hay que|parece|intentare|probare|buscar|busco|comprobar) `,
	"pt": `^ (?:agora|ahora|depois|primeiro|em seguida|plano|passo) | (?:vamos|vou|deixe me|devemos|deveria|deveriamos|poderia|poderiamos|talvez|provavelmente|possivelmente|se|precisamos|preciso|parece|tentar|procurar|verificar) `,
	"zh": `^ (?:现在|接下来|首先|然后|下一步|计划)|让我|我会|我将|我们将|需要|应该|可能|也许|或许|如果|打算|试试|尝试|看看|似乎|好像|大概`,
	"ja": `^ (?:次に|まず|今から|これから|計画)|しましょう|します 。|かもしれ|だろう|でしょう|おそらく|多分|たぶん|もし|必要があり|べき|試し|予定|ようです|と思われ|ましょう`,
}

// table are the rows. A new one needs its tests: sentences in which it finds
// something, and such in which it looks as if it should.
var table = []row{
	// Asked to remember.
	{asked, "remember", "en", "remember", `LEAD(?:always |do |you (?:should|must|need to) |(?:i want|i need|i d like) you to )?remember (?:that|this|to|:|, (?:we|our|i|never|always|this|don t|do not|use|the (?:tests|build|project|repo))|-|we|the|our|my|i|never|always|not|for (?:next|later|the|future)) `,
		`^ remember ,? ?(?:this one|that one|that time|that (?:movie|song|day|episode)|the (?:time|day|good|old)|i (?:was|had|used|once)|we (?:were|had|used|once))|remember (?:that|this|to) [.!] $|remember to .* (?:you|your|yourself) |remember (?:to|that) (?:have|be|stay|staying|take|keep) `},
	{asked, "mind", "en", "mind", `LEAD(?:do )?(?:keep|bear) (?:this |that )?in mind (?:that|:|,|for) `, ``},
	{asked, "forget", "en", "forget", `LEAD(?:don t|do not|never) (?:ever )?forget (?:that|to|:) `, `forget to .* (?:you|your|yourself) |forget (?:to|that) (?:have|be|stay|staying|take|prepare) `},
	{asked, "note", "en", "note record reference future", `LEAD(?:make a note|take note|note to self|for the record|for future reference|for future sessions|in future sessions) `, ``},
	{asked, "now on", "en", "now on forward", `(?:from now on|from here on|from this point on|going forward|as of now) `,
		` (?:i ll|i will|i m|i am|i d|i plan|i hope|i ve|i want|i have|i need|i can|i should|we ll|he|she|they|my (?:goal|plan|life)) |^ (?:thanks|thank|what|how|which|why|who|when|where) `},
	{asked, "next time", "en", "time", `LEAD(?:next time|the next time) ,? ?(?:please |you )?(?:use|do|don t|never|always|run|make|check|ask|start|first|read|write|put|keep|add|tell) `, ``},
	{asked, "always", "en", "always", `LEAD(?:you (?:should|must|have to|need to) |(?:please )?make sure (?:to|that you|you) |(?:we|our team) )?always (?:use|run|do|make|check|ask|start|read|write|put|keep|add|include|prefer|format|test|commit|push|pull|rebase|build|lint|return|wrap|close|handle|log|call|name|document|update|verify|validate|follow|set|pin|quote|escape|sign|show|give|answer|reply|respond|explain|deploy|install|import|export|go|work|leave|remove|delete|avoid|review|say|tell|confirm|create|open|save|store|pass|define|declare|specify|mention|cite|end|begin|speak) `,
		` always (?:do|go|work|make|say|tell|end|ask|begin|answer|leave|keep|give) (?:it|that|this|so|to|the same|wrong|me|up|out|well|with (?:it|that)) `},
	{asked, "never", "en", "never", `LEAD(?:you (?:should|must|may|can) |(?:please )?make sure (?:to|that you|you) |we )?never (?:ever )?(?:use|run|do|make|check|ask|start|read|write|put|keep|add|include|format|test|commit|push|pull|rebase|build|return|wrap|close|handle|log|call|name|update|follow|set|pin|show|give|answer|reply|deploy|install|import|export|edit|modify|change|touch|remove|delete|drop|skip|rename|merge|force|amend|assume|guess|mock|catch|swallow|ignore|hardcode|hard|print|store|save|pass|disable|create|open|send|share|expose|reformat|regenerate|revert|stage|overwrite|squash|invent|mention|say|tell|work) `,
		` say never |never (?:do|make|say|tell|work|give|change|put) (?:it|that|this|so|me|up|out|well|any|anything) `},
	{asked, "decided", "en", "decided agreed settled", ` (?:we|the team|our team) (?:have |has |ve |had |all |both |now |already |finally |just )*(?:decided|agreed|settled) (?:that|to (?:use|keep|go with|drop|move|switch|store|stick|adopt|avoid|support|write|build|put|name|call|stop|replace|migrate|run|deploy|not|never|always|only|leave|split|merge|require|target|ship|make)|on|not to|against|upon|:) `, ` (?:why|if|whether|when|where|how|before|after|since|ago|yesterday|vacation|trip|dinner|wedding) `},
	{asked, "rule", "en", "rule convention policy", `(?:LEAD|[,;:-] )(?:the|our|my|one|a|another|new|project) (?:(?:golden|new|general|coding|code|team|project|house|basic|strict|naming|commit|branch|only|style|company) ){0,2}(?:rule|convention|policy)(?: here| for (?:[^ ]+ ){1,6}| in (?:[^ ]+ ){1,4}| of thumb)? ?(?:is (?:that|to|:|we|no|never|always|not|one|at)|:) `, ``},

	{asked, "remember", "de", "merk merke denk denke erinnere behalte behalt beachte vergiss", `LEAD(?:merke? dir|denke? (?:dran|daran)|behalte? (?:im kopf|im hinterkopf|dir)|vergiss nicht|beachte (?:bitte )?(?:kunftig|immer|ab jetzt))(?: (?:bitte|immer|mal|fur (?:spater|die zukunft|das nachste mal)))* ?(?:,|:|-|dass|das|in|fur) `, ``},
	{asked, "now on", "de", "ab jetzt kunftig zukunft", `(?:ab (?:jetzt|sofort|heute|nun)|von (?:jetzt|nun) an|LEADkunftig|LEADin zukunft) `, ` (?:ich (?:werde|will|mochte|habe|bin|kann|muss|gehe|mache)|(?:werde|will|mochte|habe|bin|kann|muss|gehe|mache) ich|er|sie|was|wie) `},
	{asked, "always", "de", "immer stets", `LEAD(?:du (?:sollst|musst|solltest) )?(?:immer|stets) (?:nur |erst |zuerst |vorher )?(?:[^ ]+ ){1,12}(?:[a-z]+en|nutzen|verwenden|ausfuhren|prufen) [.!]? ?$|LEAD(?:benutze?|verwende|nutze?|fuhre|schreibe?|prufe|teste|mache?|frage?|antworte|lass|lies|baue?|formatiere|committe) (?:[^ ]+ ){0,6}(?:immer|stets) `, ` (?:war|waren|bin|ist|sind|hat|haben|hatte|hatten|gewesen) `},
	{asked, "never", "de", "nie niemals", `LEAD(?:du (?:sollst|darfst) )?(?:nie|niemals) (?:[^ ]+ ){0,10}[a-z]+(?:en|eln|ern) [.!]? ?$|LEAD(?:benutze?|verwende|nutze?|fuhre|schreibe?|mache?|committe|pushe?|andere?|losche?|fasse?|nimm) (?:[^ ]+ ){0,6}(?:nie|niemals) `, ` (?:war|waren|bin|ist|sind|hat|haben|hatte|hatten|gewesen|gesehen|gehort|gedacht) `},
	{asked, "decided", "de", "entschieden beschlossen geeinigt festgelegt vereinbart", `(?:^| )wir (?:haben|hatten) (?:uns |gestern |heute |gemeinsam |im team |jetzt |nun |schon )*(?:[^ ]+ ){0,8}(?:entschieden|beschlossen|geeinigt|festgelegt|vereinbart) (?:,|:|[.!]) `, ` (?:ob|warum|wann|wenn|urlaub|hochzeit) `},
	{asked, "rule", "de", "regel konvention richtlinie", `LEAD(?:die|unsere|meine|eine|neue|als) (?:(?:neue|goldene|wichtige|allgemeine|interne) )?(?:regel|konvention|richtlinie)(?: (?:hier|bei uns|im team|im projekt|fur [^ ]+))? (?:ist|lautet|gilt)? ?(?::|,|dass|ist) `, ``},

	{asked, "remember", "ru", "запомни запомните помни учти учтите имеи имей имеите имейте забудь забывай", `LEAD(?:запомни|запомните|помни|учти|учтите|име(?:й|и|йте|ите) в виду|не (?:забудь|забывай))(?: (?:на будущее|всегда|это|пожалуйста))* ?(?:,|:|-|что|на|про|наш|эту|это) `, ``},
	{asked, "now on", "ru", "этого отныне впредь будущем дальше", `(?:с этого (?:момента|дня)|отныне|впредь|LEADна будущее|LEADв дальнейшем) `, ` (?:я (?:буду|хочу|решил|начну)|он|она|они) `},
	{asked, "always", "ru", "всегда", `LEADвсегда (?:[^ ]+ ){0,3}?[а-я]+(?:й|и|йте|ите|ь|ьте|ть|ти|ся|сь) `, ` (?:было|был|была|были|есть|хотел|любил|думал|я|он|она|мы) `},
	{asked, "never", "ru", "никогда", `LEADникогда (?:больше )?не [а-я]+(?:й|и|йте|ите|ь|ьте|ть|ти|ся|сь) `, ` (?:было|был|была|были|я|он|она|мы|знаешь|поздно) `},
	{asked, "decided", "ru", "решили договорились условились", `(?:^| )(?:мы|командой|на команде|в команде) (?:уже |все |вместе |с командой )*(?:решили|договорились|условились) `, ` (?:ли|почему|когда|если|отпуск|свадьб[^ ]*) `},
	{asked, "rule", "ru", "правило соглашение", `LEAD(?:(?:наше|новое|общее|главное|мое|такое) )?(?:правило|соглашение)(?: (?:такое|простое|проекта|команды|у нас|для [^ ]+))* ?(?::|-|,) `, ``},

	{asked, "remember", "zh", "", `LEAD(?:记住|记得|牢记|记一下|别忘了|不要忘记|记下来?)`, `(?:还记得|你记得|我记得|不记得|记得吗|记得那|记得当时|记住了)`},
	{asked, "now on", "zh", "", `从现在起|从现在开始|从今以后|LEAD(?:今后|往后|以后)(?: , )?(?:都|请|不要|要|必须|别|一律|每次|用)`, `(?:我会|我要|我想|我打算|他|她)`},
	{asked, "always", "zh", "", `LEAD(?:总是|始终|务必|一定要|永远|必须始终)(?:都|要|用|使用|先|在|把|运行|保持|检查|写|加)`, ``},
	{asked, "never", "zh", "", `LEAD(?:永远不要|绝不要?|绝对不要|千万不要|千万别|切勿|永远别|绝不能)`, ``},
	{asked, "decided", "zh", "", `(?:我们|团队)(?:已经|最终|一致|已)*(?:决定|商定|约定|同意)(?:了)?(?:使用|用|采用|不|改|把|将|在|统一|保留|放弃|迁移|所有| [:,])`, `(?:为什么|是否|什么时候|旅行|结婚)`},
	{asked, "rule", "zh", "", `LEAD(?:我们的|项目的?|团队的?|这里的?|新的?|统一)?(?:规则|规定|约定|规范|惯例)(?:是| :|如下)`, ``},

	{asked, "remember", "ja", "", `(?:覚えておいて|覚えといて|覚えてください|覚えて 。|覚えて $|記憶しておいて|忘れないで|メモしておいて)`, `(?:覚えてい|覚えてます|覚えてる)`},
	{asked, "now on", "ja", "", `LEAD(?:今後は?|これからは|以後は?|次回からは?|以降は)`, `(?:思って|つもり|予定|行きたい|したいです)`},
	{asked, "always", "ja", "", `(?:必ず|常に|いつも|毎回).{1,120}(?:してください|して下さい|すること|使うこと|使って(?:ください)?|してね|して) (?:[.!] )?$`, ``},
	{asked, "never", "ja", "", `(?:絶対に|決して|二度と).{1,120}(?:しないで(?:ください|下さい)?|しないこと|使わないで(?:ください)?|使わないこと|ないで(?:ください)?|するな|禁止) (?:[.!] )?$`, ``},
	{asked, "decided", "ja", "", `(?:ことに(?:決めた|決めました|決まった|決まりました)|という?方針(?:に|で|です)|(?:チーム|我々|私たち)(?:は|で|として).{1,80}ことにし(?:た|ました))`, `(?:旅行|結婚|なぜ|どうして)`},
	{asked, "rule", "ja", "", `LEAD(?:.{0,20}の)?(?:ルール|規約|決まり|規則)(?:は|として| :)`, `(?:何|どう|教えて)`},

	{asked, "remember", "es", "recuerda recuerde acuerdate recordad ten tenga olvides", `LEAD(?:recuerda|recuerde|recordad|acuerdate(?: de)?|ten(?:ga)? en cuenta|no (?:te )?olvides) (?:siempre |bien |para la proxima )?(?:que|esto|siempre|usar|:|,|de|no) `, `^ recuerda que (?:fue|era|cuando|estaba)`},
	{asked, "now on", "es", "ahora partir adelante", `(?:de ahora en adelante|a partir de ahora|de aqui en adelante|desde ahora|LEADen adelante) `, ` (?:voy a|quiero|me gustaria|pienso|el|ella|ellos) (?:va|van|voy)? ?`},
	{asked, "always", "es", "siempre", `LEAD(?:debes |tienes que )?siempre (?:usa|use|usar|ejecuta|ejecutar|corre|haz|hacer|haga|escribe|escribir|prueba|revisa|revisar|pregunta|preguntar|responde|responder|comprueba|comprobar|anade|agrega|incluye|formatea|mantiene|manten|pon|poner|deja|guarda|valida|documenta) `, ``},
	{asked, "never", "es", "nunca jamas", `LEAD(?:debes |tienes que )?(?:nunca|jamas) (?:uses|use|usar|ejecutes|hagas|hacer|escribas|toques|tocar|modifiques|modificar|cambies|borres|borrar|elimines|subas|commitees|hagas|empujes|mezcles|ignores|asumas|pongas|anadas|agregues|edites|editar) `, ``},
	{asked, "decided", "es", "decidimos decidido acordamos acordado", `(?:^| )(?:nosotros |ya |el equipo |en el equipo |hemos |finalmente |con el equipo )*(?:decidimos|hemos decidido|acordamos|hemos acordado) (?:que|usar|no|mantener|cambiar|mover|guardar|dejar|escribir|migrar|adoptar|:) `, ` (?:por que|si|cuando|vacaciones|boda|viaje) `},
	{asked, "rule", "es", "regla norma convencion", `LEAD(?:la|nuestra|mi|una|otra) (?:(?:nueva|unica) )?(?:regla|norma|convencion)(?: (?:aqui|del equipo|del proyecto|general|de oro|para [^ ]+))? (?:es|:) `, ``},

	{asked, "remember", "pt", "lembre lembra lembrem tenha esqueca esquecas anote", `LEAD(?:lembre (?:se)?|lembra (?:te)?|lembrem (?:se)?|lembre|lembra|tenha em (?:mente|conta)|nao (?:se |te )?esquec(?:a|as)(?: de)?|anote)(?: -)? ?(?:se |te )?(?:sempre )?(?:que|de|disto|disso|isto|isso|:|,) `, `^ lembra (?:que|de|quando) (?:foi|era|eu|a gente)`},
	{asked, "now on", "pt", "agora partir diante", `(?:de agora em diante|a partir de agora|daqui (?:em|para|pra) (?:diante|frente)|doravante) `, ` (?:eu vou|vou|quero|eu quero|ele|ela|eles) `},
	{asked, "always", "pt", "sempre", `LEAD(?:voce (?:deve|tem que) )?sempre (?:use|usar|utilize|execute|executar|rode|rodar|faca|fazer|escreva|escrever|teste|testar|verifique|verificar|pergunte|perguntar|responda|responder|adicione|inclua|formate|mantenha|coloque|deixe|salve|valide|documente) `, ``},
	{asked, "never", "pt", "nunca jamais", `LEAD(?:voce (?:deve|pode) )?(?:nunca|jamais) (?:use|usar|utilize|execute|rode|faca|fazer|escreva|mexa|mexer|modifique|altere|alterar|apague|apagar|remova|suba|commite|ignore|assuma|coloque|adicione|edite|editar|mude|mudar) `, ``},
	{asked, "decided", "pt", "decidimos combinamos acordamos", `(?:^| )(?:nos |ja |o time |a equipe |finalmente )*(?:decidimos|combinamos|acordamos) (?:que|usar|nao|manter|mudar|mover|guardar|deixar|escrever|migrar|adotar|:) `, ` (?:por que|se|quando|ferias|casamento|viagem) `},
	{asked, "rule", "pt", "regra norma convencao", `LEAD(?:a|nossa|minha|uma|outra) (?:(?:nova|unica) )?(?:regra|norma|convencao)(?: (?:aqui|do time|do projeto|geral|de ouro|para [^ ]+))? (?:e|:) `, ``},

	// A person refuses what was done.
	{corrects, "no", "en", "no nope nah wrong not", `LEAD(?:no|nope|nah|wrong) (?:[,.!:;-] )+(?:[^ ]+ ){2}|LEADno (?:that|this|it|don t|do not|not|use|i|you|we|the|revert|undo|keep) |LEAD(?:that|this|it)(?: s| is| was) (?:not (?:what|how|right|correct|the|where)|wrong|incorrect) |LEADnot (?:like (?:that|this)|what|that|this|there|here|in|the|a|with|by|quite|correct|right|good enough) `,
		`^ oh no |^ not quite [.] $|^ (?:no|nope|nah) (?:[,.!:;-] )*(?:never|but|my|it s (?:real|my)|not (?:really|yet)|i (?:m|am) (?:sure|pretty)|(?:that|it|this) (?:sounds|seems|looks)|problem|worries|need|thanks|thank|that s (?:fine|ok|okay|all|it|good|great|perfect|everything)|it s (?:fine|ok|okay|good)|this is (?:fine|good|great)|looks? good|go ahead|idea|rush|changes?|more|further|all good|i m (?:good|fine|ok|done)|we re (?:good|done)|issues?|questions?|leave it|i (?:think|don t (?:think|have|know)|haven t|can t|didn t|wasn t)|you (?:re right|are right|can|may)|just|nothing|continue|please (?:go|continue|proceed)|proceed) |^ not (?:the (?:end|only|first)|that (?:i|it|bad|much|many)|this time|a (?:problem|big|bad)|in (?:particular|general)) |^ that s not (?:a problem|needed|necessary|bad) `},
	{corrects, "back", "en", "revert undo roll back instead asked told said meant", `LEAD(?:revert|undo|roll back) (?:[^ ]+ )|LEAD(?:put|change|move|turn|set) (?:it|that|this|them|those) back |LEADinstead (?:of|,|use|do|put|make|keep|write|just|please) |LEAD(?:i )?(?:asked|told you|said|meant) (?:for|to|not|that) `, `^ instead of (?:going|buying|eating|watching)`},
	{corrects, "no", "de", "nein nicht falsch nee doch", `LEAD(?:nein|nee|ne|falsch) (?:[,.!:;-] )*(?:[^ ]+ ){2}|LEADnicht (?:so|das|den|die|der|in|mit|hier|dort|was|wie|ganz|richtig) |LEADdas (?:ist|war) (?:falsch|nicht (?:richtig|das|was|so)|verkehrt) |LEADdoch nicht `, `^ (?:nein|nee|ne) (?:[,.!:;-] )*(?:passt|danke|alles gut|alles klar|schon gut|ist (?:gut|ok|okay)|das (?:passt|reicht|ist (?:gut|ok|alles))|keine|kein|mach weiter|weiter) |^ nicht (?:schlecht|notig|mehr|wichtig|das ich)`},
	{corrects, "back", "de", "ruckgangig stattdessen zuruck statt", `LEAD(?:mach|mache|nimm|setz|setze|roll|rolle)(?: [^ ]+){0,4} (?:ruckgangig|zuruck) |LEAD(?:stattdessen|statt dessen|anstatt|statt) `, ``},
	{corrects, "no", "ru", "нет не неправильно неверно", `LEADнет (?:[,.!:;-] )*(?:[^ ]+ ){2}|LEADне (?:так|то|надо|нужно|туда|там|трогай|меняй|используй|используи|делай|в|на|с|это|этот|эту) |LEAD(?:это )?(?:неправильно|неверно) `, `^ нет (?:[,.!:;-] )*(?:проблем|спасибо|все (?:хорошо|нормально|ок)|нормально|не надо|продолжай|вопросов|идей) |^ не (?:так (?:уж|плохо)|надо благодарить|то чтобы|в курсе)`},
	{corrects, "back", "ru", "верни откати отмени вместо", `LEAD(?:верни|откати|отмени|верните|откатите|отмените) |LEADвместо `, ``},
	{corrects, "no", "zh", "", `LEAD(?:不对|不是(?:这|那|要|让|在|的)|不要|不行|别(?:用|改|动|删|这样)|错了|不应该|不能这样|搞错|(?:这|那)(?:样)?(?:不对|是错的|错了)|不 [,.!] )`, `^ (?:不错|不客气|不用|不要紧|不要担心|不是问题|不是我)`},
	{corrects, "back", "zh", "", `LEAD(?:撤销|撤回|回退|回滚|还原|恢复(?:成|到|原)|改回|退回|取消(?:这|刚)|应该(?:用|是|改)|而是)`, ``},
	{corrects, "no", "ja", "", `LEAD(?:いや|いいえ|いえ|違う|違います|ちがう|違くて|そうじゃな|そうでは?な|ダメ|だめ|間違|それは(?:違|間違|だめ|ダメ)|そこじゃな|そこでは?な)`, `^ (?:いいえ|いや|いえ)(?: , )?(?:大丈夫|結構|問題|ありがとう|いいよ|すごい|間違いな)`},
	{corrects, "back", "ja", "", `LEAD(?:元に戻|戻して|取り消|やめて|巻き戻|.{0,20}(?:じゃなくて|ではなくて?|の代わりに|を元に戻))`, `(?:じゃなくてもいい)`},
	{corrects, "no", "es", "no incorrecto mal equivocado", `LEADno [,.!:;-] (?:[^ ]+ ){2}|LEADno (?:asi|eso|ese|esa|este|esta|uses|hagas|toques|cambies|borres|pongas|era|quiero|queria|lo) |LEAD(?:eso|esto) (?:no (?:es|era)|esta mal|es incorrecto) |LEAD(?:incorrecto|mal|equivocado) [,.!:;] `, `^ no (?:[,.!:;-] )*(?:gracias|hay problema|pasa nada|te preocupes|importa|se|estoy|hace falta|es necesario|lo se|esta bien|todo bien|sigue|continua) | (?:i|the|that|it|is|you|s|t|to|not) `},
	{corrects, "back", "es", "revierte revertir deshaz lugar vez devuelve vuelve", `LEAD(?:revierte|deshaz|devuelve|vuelve a (?:poner|dejar|como)) |LEADen (?:lugar|vez) de `, ``},
	{corrects, "no", "pt", "nao errado incorreto", `LEADnao [,.!:;-] (?:[^ ]+ ){2}|LEADnao (?:assim|isso|esse|essa|este|esta|use|faca|mexa|mude|apague|coloque|era|quero|queria) |LEAD(?:isso|isto) (?:nao (?:e|era)|esta errado) |LEAD(?:errado|incorreto) [,.!:;] `, `^ nao (?:[,.!:;-] )*(?:obrigado|obrigada|tem problema|ha problema|se preocupe|importa|sei|estou|precisa|esta (?:bom|bem|otimo)|tudo bem|continue|pode) `},
	{corrects, "back", "pt", "reverta reverter desfaca vez lugar volte", `LEAD(?:reverta|desfaca|volte (?:a|ao|para|como)) |LEADem (?:vez|lugar) d`, ``},

	// An agent says what it found or decided.
	{concluded, "cause", "en", "cause culprit problem issue bug error failure reason", ` (?:root cause|underlying cause|real cause|actual cause|culprit)(?: of [^.]{1,80}?| here)? ?(?:is|was|:|turned|-) | the (?:real |actual )?(?:problem|issue|bug|error|failure|crash|leak|race|regression) (?:here )?(?:was|is|came|comes) (?:that|because|caused|due|from|in) | the reason (?:is|was) (?:that|:) `, `PLAN`},
	{concluded, "fixed", "en", "fixed fix", ` fixed (?:(?:it|this|that|the [^ ]+(?: [^ ]+){0,3}) )?by | (?:is|are|was|were|got|been) fixed (?:by|with|in|now) | the fix (?:is|was) `, `PLAN| (?:how|not|isn t|wasn t|aren t) (?:[^ ]+ )?fixed |fixed by (?:the |law|us )`},
	{concluded, "turned out", "en", "turned turns", ` (?:it|this|that|which) (?:turned|turns) out |^ (?:turned|turns) out | (?:turned|turns) out (?:that|to be|there|the) `, `PLAN| (?:hope|hear|glad|how|wish|excited|love) `},
	{concluded, "decided", "en", "decided chose opted went settled", `(?:^| )(?:i|we)(?: ve| have)? (?:decided (?:to|on|that|against|not)|chose (?:[^ ]+ ){1,6}over|opted (?:for|to)|went with|settled on) `, `PLAN`},
	{concluded, "instead", "en", "instead", ` (?:uses|used|switched|changed|replaced|reads|writes|wrote|calls|called|moved|returns|returned|kept|keeps|stores|stored|made|makes|sends|sent|opens|opened|runs|ran|sets|takes|took|compares|compared|parses|parsed|loads|loaded|checks|checked) (?:[^ ]+ ){1,16}instead of `, `PLAN| (?:you|your|people|many|some|they|he|she) `},
	{concluded, "cause", "de", "ursache grund schuld fehler problem", ` (?:ursache|grundursache|schuld|grund)(?: (?:dafur|war|ist|hierfur))* ?(?:war|ist|:|,|daran|lag) | (?:der fehler|das problem) (?:war|lag|kam|ist) (?:dass|,|daran|an|in|durch|von) `, `PLAN`},
	{concluded, "fixed", "de", "behoben gelost korrigiert repariert", ` (?:behoben|gelost|korrigiert|repariert) (?:durch|mit|indem|,) | (?:durch|mit) (?:[^ ]+ ){1,8}(?:behoben|gelost|korrigiert|repariert) `, `PLAN`},
	{concluded, "turned out", "de", "herausgestellt stellte", ` (?:herausgestellt|stellte sich heraus) `, `PLAN`},
	{concluded, "decided", "de", "entschieden gewahlt entschied", ` (?:ich|wir) (?:habe|haben) (?:mich |uns )?(?:[^ ]+ ){0,8}(?:entschieden|gewahlt) |(?:^| )(?:ich|wir) entschied(?:en)? `, `PLAN`},
	{concluded, "instead", "de", "statt anstatt anstelle", ` (?:nutzt|verwendet|liest|schreibt|ruft|gibt|speichert|benutzt|geandert|ersetzt|umgestellt) (?:[^ ]+ ){1,12}(?:statt|anstatt|anstelle) `, `PLAN`},
	{concluded, "cause", "ru", "причина причиной проблема ошибка дело", ` (?:причина|проблема|ошибка|дело)(?: (?:была|была бы|оказалась))? (?:-|в|была|:|том|том , что)? ?(?:в|том|что|из за|:|-) |причиной (?:был|была|было|стал|стала|стало) `, `PLAN`},
	{concluded, "fixed", "ru", "исправлено исправил исправила починил устранено исправили решено", ` (?:исправлено|исправил|исправила|исправили|починил|починила|устранено) `, `PLAN| не (?:исправлен|починил|устранен)[^ ]* `},
	{concluded, "turned out", "ru", "оказалось выяснилось оказался оказалась", ` (?:оказалось|выяснилось|оказался|оказалась) `, `PLAN`},
	{concluded, "decided", "ru", "решил решила решили выбрал выбрали", `(?:^| )(?:я |мы )?(?:решил|решила|решили|выбрал|выбрала|выбрали) (?:использовать|не|оставить|что|[а-яa-z]+) `, `PLAN| (?:он|она|они|кто) `},
	{concluded, "instead", "ru", "вместо", ` (?:использует|читает|пишет|вызывает|возвращает|хранит|заменил|заменила|заменили|заменено|теперь|берет) (?:[^ ]+ ){0,12}вместо `, ` (?:нужно|надо|если|возможно|может|давайте) `},
	{concluded, "cause", "zh", "", `(?:根本原因|根因|根源|真正的?原因|问题的?原因|原因|问题(?:出)?)(?:就)?(?:是|在于|出在| :)|(?:是|由)(?:[^,.]{1,40})(?:导致|引起|造成)的?`, `PLAN|什么|吗|不是原因`},
	{concluded, "fixed", "zh", "", `(?:已|已经)(?:通过[^.]{1,60})?(?:修复|解决|修正)|通过[^.]{1,60}(?:修复|解决|修正)了?|修复(?:方法|方式)(?:是| :)`, `PLAN|未修复|没有修复`},
	{concluded, "turned out", "zh", "", `原来(?:是|,| ,|[^的])|结果(?:发现|是)|事实证明|最终发现`, `PLAN|原来的`},
	{concluded, "decided", "zh", "", `(?:我|我们)(?:最终|最后)?(?:决定|选择)(?:了|用|使用|采用|不|保留|将|把)?`, `PLAN`},
	{concluded, "instead", "zh", "", `(?:使用|用|改用|改为|改成|采用|读取|返回|调用)[^.]{1,60}(?:而不是|而非|代替|取代)`, `PLAN`},
	{concluded, "cause", "ja", "", `(?:根本原因|原因|問題|不具合|バグ)(?:は|が)[^.]{1,120}(?:でした|だった|です|にあり|にあった|ため)|が原因(?:でした|だった|です)`, `PLAN|でしょうか|何`},
	{concluded, "fixed", "ja", "", `(?:修正|解決|解消|直)(?:し|され)(?:た|ました)|(?:ことで|により|によって)[^.]{0,40}(?:修正|解決|直)`, `PLAN|まだ`},
	{concluded, "turned out", "ja", "", `(?:判明し|分かり|わかり|判り)(?:た|ました)|(?:こと|の)が(?:判明|分かった|わかった)|実は`, `PLAN|分かりました (?:[.!,] )?$|^ (?:分かり|わかり)ました `},
	{concluded, "decided", "ja", "", `(?:こと|方針)に(?:し|決め)(?:た|ました)|を(?:選択|採用)し(?:た|ました)`, `PLAN`},
	{concluded, "instead", "ja", "", `(?:の代わりに|ではなく|じゃなく)[^.]{1,80}(?:した|しました|使用|使うように|変更)`, `PLAN`},
	{concluded, "cause", "es", "causa problema culpa error fallo", ` (?:la causa(?: raiz| real)?|el culpable) (?:era|fue|es|:|de) | el (?:problema|error|fallo) (?:era|fue|estaba|venia|es) (?:que|en|por|de|causado) `, `PLAN`},
	{concluded, "fixed", "es", "arreglado corregido solucionado resuelto", ` (?:arreglado|corregido|solucionado|resuelto) (?:con|al|cambiando|usando|por|mediante|en) `, `PLAN| no (?:esta|ha sido) `},
	{concluded, "turned out", "es", "resulto resulta", ` (?:resulto|resulta) (?:que|ser) `, `PLAN`},
	{concluded, "decided", "es", "decidi decidimos elegi elegimos opte optamos", `(?:^| )(?:decidi|decidimos|elegi|elegimos|opte|optamos) (?:por|usar|no|que|mantener|[a-z]+r) `, `PLAN`},
	{concluded, "instead", "es", "lugar vez", ` (?:usa|usan|lee|escribe|llama|devuelve|guarda|cambie|cambiado|reemplace|use) (?:[^ ]+ ){1,12}en (?:lugar|vez) de `, `PLAN`},
	{concluded, "cause", "pt", "causa problema culpado erro falha", ` (?:a causa(?: raiz| real)?|o culpado) (?:era|foi|e|:|do|da) | o (?:problema|erro) (?:era|foi|estava|vinha|e) (?:que|em|no|na|por|causado) `, `PLAN`},
	{concluded, "fixed", "pt", "corrigido resolvido consertado corrigi", ` (?:corrigido|resolvido|consertado) (?:com|ao|usando|por|mudando|em|atraves) |^ corrigi `, `PLAN| nao (?:esta|foi) `},
	{concluded, "turned out", "pt", "acontece verifica descobri afinal constatou", ` (?:acontece que|descobri que|afinal ,|verificou se que|constatou se que|acabou por ser) `, `PLAN`},
	{concluded, "decided", "pt", "decidi decidimos escolhi escolhemos optei optamos", `(?:^| )(?:decidi|decidimos|escolhi|escolhemos|optei|optamos) (?:por|usar|nao|que|manter|[a-z]+r) `, `PLAN`},
	{concluded, "instead", "pt", "vez lugar inves", ` (?:usa|usam|le|escreve|chama|retorna|guarda|mudei|mudado|substitui|usei|passou a) (?:[^ ]+ ){1,12}(?:em (?:vez|lugar) d[eoa]s?|ao inves d[eoa]s?) `, `PLAN`},
}
