// This file tests each rule in sentenceRuleTable, which contains the rules that find sentences such as requests to
// remember. It also tests that the time to search a text grows linearly with its length.

package extract

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// examples contains test sentences for the rules in sentenceRuleTable. Each rule finds sentences with one meaning, the
// signal, in one language. The rule with the name row must match all sentences in yes. No rule for the same signal may
// match a sentence in no.
var examples = []struct {
	signal    sentenceMeaning
	lang, row string
	yes, no   []string
}{
	{meaningRememberRequest, "en", "remember",
		[]string{
			"Remember that the staging database is read-only.",
			"Please remember: we use pnpm, never npm.",
			"Remember to run make lint first.",
			"Ok, remember, we deploy on Tuesdays.",
		},
		[]string{"I remember that we had a bug there.", "Do you remember the parser?",
			"Remember that time when the build broke?", "Remember to take care of yourself.",
			"It does not remember that setting."}},
	{meaningRememberRequest, "en", "mind", []string{"Keep in mind that the API is frozen."},
		[]string{"I have nothing in mind that fits.", "Do you keep that in mind?"}},
	{meaningRememberRequest, "en", "forget",
		[]string{"Don't forget that CI runs on Windows, too.", "Never forget to bump the version."},
		[]string{"I always forget that flag.", "Don't forget to enjoy your weekend."}},
	{meaningRememberRequest, "en", "note",
		[]string{"Note to self: the cache key holds the branch.", "For future reference, port 8080 is taken."},
		[]string{"There is a note in the reference manual.", "What is the future of this module?"}},
	{meaningRememberRequest, "en", "now on",
		[]string{"From now on use tabs.", "Use table tests from now on.", "Going forward, squash the commits."},
		[]string{"From now on I'll test it myself.", "It works from now to noon."}},
	{meaningRememberRequest, "en", "next time", []string{"Next time run the linter first."},
		[]string{"Next time we meet it will be done.", "The next time it fails I will call you."}},
	{meaningRememberRequest, "en", "always",
		[]string{
			"Always run the tests before you commit.",
			"You should always use t.TempDir.",
			"Make sure to always quote the path.",
		},
		[]string{"Always a pleasure.", "It always fails.", "Always had this problem with npm.", "I always use vim."}},
	{meaningRememberRequest, "en", "never",
		[]string{"Never push to main.", "You must never edit generated files.", "never ever commit secrets"},
		[]string{"Never mind.", "I never use it.", "Never seen that before.", "Never say never!"}},
	{meaningRememberRequest, "en", "decided",
		[]string{"We decided to use SQLite for the queue.", "The team has agreed on semantic versions."},
		[]string{"We decided to go out for dinner.", "Have we decided to use SQLite?", "I decided nothing."}},
	{meaningRememberRequest, "en", "rule",
		[]string{
			"The rule is: no new dependency without a reason.",
			"Our naming convention is that tests end in _test.",
			"The rule for errors is to wrap them.",
		},
		[]string{"What is the rule here?", "The firewall rule is broken."}},

	{meaningRememberRequest, "de", "remember",
		[]string{
			"Merk dir: wir nutzen pnpm.",
			"Denk daran, dass die Tests auf Windows laufen.",
			"Bitte merke dir, dass Port 8080 belegt ist.",
		},
		[]string{"Ich merke, dass es langsam ist.", "Ich denke daran, aufzuhören."}},
	{
		meaningRememberRequest,
		"de",
		"now on",
		[]string{"Ab jetzt nur noch Tabs.", "Künftig bitte auf Deutsch antworten."},
		[]string{"Ab jetzt werde ich das selbst testen.", "Jetzt geht es."},
	},
	{
		meaningRememberRequest,
		"de",
		"always",
		[]string{"Immer zuerst die Tests ausführen.", "Verwende für Pfade immer filepath.Join."},
		[]string{"Immer noch kaputt.", "Es war immer so gewesen.", "Das ist immer noch falsch."},
	},
	{
		meaningRememberRequest,
		"de",
		"never",
		[]string{"Niemals direkt auf main pushen.", "Du darfst nie generierte Dateien ändern."},
		[]string{"Nie gesehen.", "Das habe ich nie gesagt."},
	},
	{meaningRememberRequest, "de", "decided",
		[]string{
			"Wir haben uns für SQLite entschieden.",
			"Wir haben im Team beschlossen, dass Fehler gewickelt werden.",
		},
		[]string{"Haben wir das entschieden?", "Wir haben noch nicht gefragt, ob das entschieden ist."}},
	{meaningRememberRequest, "de", "rule",
		[]string{"Die Regel ist: keine neuen Abhängigkeiten.", "Unsere Konvention lautet: Tests neben dem Code."},
		[]string{"In der Regel geht das.", "Welche Regel gilt hier?"}},

	{meaningRememberRequest, "ru", "remember",
		[]string{
			"Запомни: мы используем pnpm.",
			"Учти, что порт 8080 занят.",
			"Пожалуйста, запомните, что база только для чтения.",
		},
		[]string{"Я не помню, что там было.", "Ты помнишь про тесты?"}},
	{
		meaningRememberRequest,
		"ru",
		"now on",
		[]string{"С этого момента используй табы.", "Отныне коммиты только на английском."},
		[]string{"С этого момента я буду тестировать сам.", "После этого всё упало."},
	},
	{
		meaningRememberRequest,
		"ru",
		"always",
		[]string{"Всегда запускай тесты перед коммитом.", "Всегда сначала проверяй линтер."},
		[]string{"Всегда так было.", "Это всегда падает."},
	},
	{
		meaningRememberRequest,
		"ru",
		"never",
		[]string{"Никогда не пушь в main.", "Никогда не меняй сгенерированные файлы."},
		[]string{"Никогда такого не видел.", "Я никогда не знал."},
	},
	{meaningRememberRequest, "ru", "decided",
		[]string{"Мы решили хранить очередь в SQLite.", "Командой договорились писать тесты рядом."},
		[]string{"Что они решили?", "Мы не знаем, решили ли это."}},
	{meaningRememberRequest, "ru", "rule", []string{"Правило такое: никаких новых зависимостей."},
		[]string{"Это правило сломано.", "Какое тут правило?"}},

	{
		meaningRememberRequest,
		"zh",
		"remember",
		[]string{"记住：我们用 pnpm。", "请记住端口 8080 已被占用。"},
		[]string{"你还记得那个错误吗？", "我不记得了。"},
	},
	{meaningRememberRequest, "zh", "now on", []string{"从现在起都用制表符。", "以后请用英文写提交信息。"}, []string{"以后我会自己测试。", "三天以后再说。"}},
	{meaningRememberRequest, "zh", "always", []string{"始终使用表驱动测试。", "务必先运行测试。"}, []string{"它总是失败。"}},
	{meaningRememberRequest, "zh", "never", []string{"永远不要直接推送到 main。", "千万别改生成的文件。"}, []string{"我永远不会忘记。"}},
	{meaningRememberRequest, "zh", "decided", []string{"我们决定使用 SQLite。"}, []string{"我们为什么决定使用它", "他们决定了吗？"}},
	{meaningRememberRequest, "zh", "rule", []string{"我们的规则是不加新的依赖。", "约定：测试放在代码旁边。"}, []string{"这条防火墙规则坏了。"}},

	{meaningRememberRequest, "ja", "remember", []string{"覚えておいて、pnpm を使います。", "ポート 8080 は使用中だと覚えておいてください。"},
		[]string{"あのエラーを覚えていますか？", "よく覚えている。"}},
	{meaningRememberRequest, "ja", "now on", []string{"今後はタブを使ってください。"}, []string{"今後は自分でテストするつもりです。"}},
	{meaningRememberRequest, "ja", "always", []string{"コミットの前に必ずテストを実行してください。"}, []string{"必ず失敗します。"}},
	{meaningRememberRequest, "ja", "never", []string{"絶対に main に直接プッシュしないでください。"}, []string{"絶対におかしい。"}},
	{
		meaningRememberRequest,
		"ja",
		"decided",
		[]string{"キューは SQLite に保存することに決めました。"},
		[]string{"なぜ SQLite にすることに決めたのか"},
	},
	{meaningRememberRequest, "ja", "rule", []string{"ルールは、新しい依存を増やさないことです。"}, []string{"ルールは何ですか？"}},

	{meaningRememberRequest, "es", "remember",
		[]string{
			"Recuerda que usamos pnpm.",
			"Ten en cuenta que el puerto 8080 está ocupado.",
			"Acuérdate de que la base es de solo lectura.",
		},
		[]string{"No recuerdo que fuera así.", "¿Recuerdas que falló?"}},
	{meaningRememberRequest, "es", "now on",
		[]string{"De ahora en adelante usa tabuladores.", "A partir de ahora, mensajes en inglés."},
		[]string{"A partir de ahora voy a probarlo yo.", "Ahora funciona."}},
	{meaningRememberRequest, "es", "always", []string{"Siempre ejecuta las pruebas antes de hacer commit."},
		[]string{"Siempre falla.", "Siempre he usado vim."}},
	{
		meaningRememberRequest,
		"es",
		"never",
		[]string{"Nunca modifiques los archivos generados."},
		[]string{"Nunca lo había visto."},
	},
	{meaningRememberRequest, "es", "decided",
		[]string{"Decidimos usar SQLite para la cola.", "Hemos acordado que los errores se envuelven."},
		[]string{"Decidimos ir de viaje.", "¿Hemos decidido usar SQLite?"}},
	{
		meaningRememberRequest,
		"es",
		"rule",
		[]string{"La regla es: ninguna dependencia nueva."},
		[]string{"Por regla general funciona."},
	},

	{meaningRememberRequest, "pt", "remember",
		[]string{"Lembre-se de que usamos pnpm.", "Tenha em mente que a porta 8080 está ocupada."},
		[]string{"Não me lembro disso.", "Você lembra que falhou?"}},
	{
		meaningRememberRequest,
		"pt",
		"now on",
		[]string{"De agora em diante use tabs.", "A partir de agora, mensagens em inglês."},
		[]string{"A partir de agora eu vou testar sozinho.", "Agora funciona."},
	},
	{meaningRememberRequest, "pt", "always", []string{"Sempre rode os testes antes do commit."},
		[]string{"Sempre falha.", "Eu sempre usei vim."}},
	{meaningRememberRequest, "pt", "never", []string{"Nunca altere os arquivos gerados."}, []string{"Nunca vi isso."}},
	{
		meaningRememberRequest,
		"pt",
		"decided",
		[]string{"Decidimos usar SQLite para a fila."},
		[]string{"Decidimos ir de viagem."},
	},
	{
		meaningRememberRequest,
		"pt",
		"rule",
		[]string{"A regra é: nenhuma dependência nova."},
		[]string{"Via de regra funciona."},
	},

	{meaningUserCorrection, "en", "no",
		[]string{"No, use the other function.", "no that's the wrong file", "Not like that.",
			"That's not what I asked for.", "Wrong, it has to be sorted."},
		[]string{"No problem, go on.", "No, that's fine.", "Not sure yet.", "Nobody asked.", "No worries!",
			"Nothing to add."}},
	{meaningUserCorrection, "en", "back",
		[]string{"Revert the last change.", "Undo that please.", "Put it back.", "Instead of a map use a slice.",
			"I asked for tests, not docs."},
		[]string{"The revert works.", "I am back now."}},
	{meaningUserCorrection, "de", "no", []string{"Nein, nimm die andere Funktion.", "Nicht so.", "Das ist falsch."},
		[]string{"Nein, passt schon.", "Nicht schlecht!"}},
	{meaningUserCorrection, "de", "back", []string{"Mach das rückgängig.", "Stattdessen bitte eine Tabelle."},
		[]string{"Ich bin zurück."}},
	{
		meaningUserCorrection,
		"ru",
		"no",
		[]string{"Нет, возьми другую функцию.", "Не так.", "Это неправильно, порядок другой."},
		[]string{"Нет проблем.", "Не знаю."},
	},
	{meaningUserCorrection, "ru", "back", []string{"Верни как было.", "Вместо map используй slice."},
		[]string{"Он вернётся завтра."}},
	{meaningUserCorrection, "zh", "no", []string{"不对，应该用另一个函数。", "不要改这个文件。"}, []string{"不错，继续。", "不客气。"}},
	{meaningUserCorrection, "zh", "back", []string{"撤销刚才的修改。", "改回原来的。"}, []string{"好的，继续。"}},
	{
		meaningUserCorrection,
		"ja",
		"no",
		[]string{"いや、別の関数を使って。", "違います、並べ替えが必要です。"},
		[]string{"いいえ、大丈夫です。", "はい、お願いします。"},
	},
	{meaningUserCorrection, "ja", "back", []string{"元に戻してください。", "マップじゃなくてスライスにして。"}, []string{"戻り値を見て。"}},
	{
		meaningUserCorrection,
		"es",
		"no",
		[]string{"No, usa la otra función.", "Eso no es lo que pedí.", "No toques ese archivo."},
		[]string{"No hay problema.", "No sé."},
	},
	{meaningUserCorrection, "es", "back", []string{"Revierte el último cambio.", "En lugar de un mapa usa una lista."},
		[]string{"Otra vez gracias."}},
	{meaningUserCorrection, "pt", "no", []string{"Não, use a outra função.", "Isso não era o que pedi."},
		[]string{"Não tem problema.", "Não sei."}},
	{meaningUserCorrection, "pt", "back", []string{"Reverta a última mudança.", "Em vez de um mapa use uma lista."},
		[]string{"Mais uma vez obrigado."}},

	{meaningAgentConclusion, "en", "cause",
		[]string{
			"The root cause is a missing lock in the writer.",
			"The problem was that the cache key lacks the branch.",
		},
		[]string{"Let me look for the root cause is it the lock.", "The root cause might be the lock."}},
	{meaningAgentConclusion, "en", "fixed",
		[]string{
			"The race is fixed by taking the lock before the read.",
			"Fixed the leak: it was fixed by closing the file.",
		},
		[]string{"This should be fixed by the next release.", "It is not fixed by that."}},
	{meaningAgentConclusion, "en", "turned out",
		[]string{"It turned out that the port was taken.", "Turns out the test ran twice."},
		[]string{"I hope it turns out well.", "Let's see how it turned out."}},
	{
		meaningAgentConclusion,
		"en",
		"decided",
		[]string{"I decided to keep the old format.", "We went with a ring buffer."},
		[]string{"Now I decided to start.", "Nothing was decided."},
	},
	{meaningAgentConclusion, "en", "instead",
		[]string{
			"The reader now uses a bitmap instead of a map.",
			"I changed it to return an error instead of a panic.",
		},
		[]string{"I'll use a bitmap instead of a map.", "You could use a slice instead of a map."}},
	{
		meaningAgentConclusion,
		"de",
		"cause",
		[]string{"Die Ursache war ein fehlender Lock.", "Der Fehler lag an der Zeitzone."},
		[]string{"Jetzt suche ich die Ursache: vielleicht der Lock."},
	},
	{meaningAgentConclusion, "de", "fixed", []string{"Der Absturz ist behoben durch eine Prüfung der Länge."},
		[]string{"Das sollte damit behoben, aber ungetestet sein."}},
	{meaningAgentConclusion, "de", "turned out", []string{"Es hat sich herausgestellt, dass der Port belegt war."},
		[]string{"Ich stellte die Frage neu."}},
	{meaningAgentConclusion, "de", "decided", []string{"Ich habe mich für einen Ringpuffer entschieden."},
		[]string{"Ich habe vielleicht falsch entschieden."}},
	{meaningAgentConclusion, "de", "instead", []string{"Der Leser verwendet nun eine Bitmap statt einer Map."},
		[]string{"Ich sollte eine Bitmap statt einer Map nehmen."}},
	{meaningAgentConclusion, "ru", "cause",
		[]string{"Причина была в отсутствии блокировки.", "Проблема в том, что ключ без ветки."},
		[]string{"Возможно, причина в блокировке."}},
	{meaningAgentConclusion, "ru", "fixed", []string{"Гонка исправлена, я исправил порядок блокировок."},
		[]string{"Нужно, чтобы это было исправлено."}},
	{
		meaningAgentConclusion,
		"ru",
		"turned out",
		[]string{"Оказалось, что порт занят."},
		[]string{"Может, оказалось иначе."},
	},
	{meaningAgentConclusion, "ru", "decided", []string{"Я решил оставить старый формат."}, []string{"Что решил он?"}},
	{meaningAgentConclusion, "ru", "instead", []string{"Читатель теперь использует битовую карту вместо словаря."},
		[]string{"Давайте использовать карту вместо словаря."}},
	{meaningAgentConclusion, "zh", "cause", []string{"根本原因是缺少锁。", "问题出在缓存键上。"}, []string{"原因可能是缺少锁。"}},
	{meaningAgentConclusion, "zh", "fixed", []string{"通过先加锁再读取修复了这个竞争。"}, []string{"这个问题还未修复。"}},
	{meaningAgentConclusion, "zh", "turned out", []string{"原来是端口被占用了。"}, []string{"恢复原来的版本。"}},
	{meaningAgentConclusion, "zh", "decided", []string{"我决定保留旧格式。"}, []string{"接下来我决定下一步。"}},
	{meaningAgentConclusion, "zh", "instead", []string{"读取器改用位图而不是映射。"}, []string{"应该用位图而不是映射。"}},
	{meaningAgentConclusion, "ja", "cause", []string{"原因はロックの欠如でした。"}, []string{"原因は何でしょうか。"}},
	{meaningAgentConclusion, "ja", "fixed", []string{"先にロックを取ることで競合を修正しました。"}, []string{"まだ修正していません。"}},
	{meaningAgentConclusion, "ja", "turned out", []string{"ポートが使用中であることが判明しました。"}, []string{"分かりました。"}},
	{meaningAgentConclusion, "ja", "decided", []string{"古い形式を残すことにしました。"}, []string{"次に残すことにしましょう。"}},
	{meaningAgentConclusion, "ja", "instead", []string{"マップの代わりにビットマップを使用しました。"}, []string{"マップの代わりにビットマップを使用すべきです。"}},
	{meaningAgentConclusion, "es", "cause", []string{"La causa era un bloqueo que faltaba."},
		[]string{"La causa podría ser un bloqueo."}},
	{meaningAgentConclusion, "es", "fixed", []string{"El fallo queda corregido con una comprobación de longitud."},
		[]string{"Debería quedar corregido con eso."}},
	{meaningAgentConclusion, "es", "turned out", []string{"Resultó que el puerto estaba ocupado."},
		[]string{"El resultado está vacío."}},
	{
		meaningAgentConclusion,
		"es",
		"decided",
		[]string{"Decidí mantener el formato antiguo."},
		[]string{"Ahora decidí mantener."},
	},
	{meaningAgentConclusion, "es", "instead", []string{"El lector usa un mapa de bits en lugar de un mapa."},
		[]string{"Podría usar esto en lugar de un mapa."}},
	{meaningAgentConclusion, "pt", "cause", []string{"A causa era um bloqueio que faltava."},
		[]string{"A causa talvez seja um bloqueio."}},
	{
		meaningAgentConclusion,
		"pt",
		"fixed",
		[]string{"A falha foi corrigida: o erro está corrigido com uma checagem de tamanho."},
		[]string{"Isso ainda não está corrigido com nada."},
	},
	{meaningAgentConclusion, "pt", "turned out", []string{"Acontece que a porta estava ocupada."},
		[]string{"Isso acontece sempre."}},
	{
		meaningAgentConclusion,
		"pt",
		"decided",
		[]string{"Decidi manter o formato antigo."},
		[]string{"Agora decidi manter."},
	},
	{meaningAgentConclusion, "pt", "instead", []string{"O leitor usa um mapa de bits em vez de um mapa."},
		[]string{"Vou usar isso em vez de um mapa."}},
}

// ruleOf returns the compiled rule for the table row row. It searches the rules for CJK text and the rules for the word
// row.meaning. It panics if there is no such rule.
func ruleOf(row sentenceRuleRow) *sentenceRule {
	t := compiledRuleIndex()
	of := t.cjkRules
	for _, rules := range t.rulesByMeaningAndWord[row.meaning] {
		of = append(of[:len(of):len(of)], rules...)
	}
	return of[slices.IndexFunc(of, func(r *sentenceRule) bool { return r.sentenceRuleRow == row })]
}

func TestTable(t *testing.T) {
	tested := map[sentenceRuleRow]bool{}
	for _, ex := range examples {
		i := slices.IndexFunc(sentenceRuleTable, func(r sentenceRuleRow) bool {
			return r.meaning == ex.signal && r.language == ex.lang && r.name == ex.row
		})
		if i < 0 || len(ex.yes) == 0 || len(ex.no) == 0 {
			t.Fatalf("%s/%s: no such row, or examples are missing", ex.lang, ex.row)
		}
		tested[sentenceRuleTable[i]] = true
		for _, s := range ex.yes {
			if r := ruleOf(sentenceRuleTable[i]); !r.matchesSentence(normalizeSentence(s)) ||
				findMatchingRule(ex.signal, normalizeSentence(s)) == nil {
				t.Errorf("%d %s/%s: %q is not found", ex.signal, ex.lang, ex.row, normalizeSentence(s))
			}
		}
		for _, s := range ex.no {
			if r := findMatchingRule(ex.signal, normalizeSentence(s)); r != nil {
				t.Errorf(
					"%d %s/%s: %q is found by %s/%s",
					ex.signal,
					ex.lang,
					ex.row,
					normalizeSentence(s),
					r.language,
					r.name,
				)
			}
		}
	}
	for _, r := range sentenceRuleTable {
		if !tested[r] {
			t.Errorf("the row %d %s/%s has no examples", r.meaning, r.language, r.name)
		}
	}
}

func TestProse(t *testing.T) {
	text := "Fix the parser. Remember that v1.2 of main.go is frozen, e.g. for tests. Thanks!\n\n" +
		"```\nAlways use tabs.\n```\n> Never push to main.\n\n- Never commit secrets.\n2. 记住端口 8080。从现在起都用制表符。\n" +
		"\tAlways use spaces.\nRemember that v1.2 of main.go is frozen, e.g. for tests.\n" + "Always use " +
		strings.Repeat("very ", 100) + "long lines.\n"
	want := []string{
		"Remember that v1.2 of main.go is frozen, e.g. for tests.",
		"Never commit secrets.",
		"记住端口 8080。",
		"从现在起都用制表符。",
	}
	if got := FindRememberRequests(text); !slices.Equal(got, want) {
		t.Errorf("Asked() = %q, want %q", got, want)
	}
	if got := FindCorrection("No, use the map. Thanks."); got != "No, use the map." {
		t.Errorf("Corrects() = %q", got)
	}
	if got := FindCorrection("Use the map. No, not that."); got != "" {
		t.Errorf("Corrects() of a later sentence = %q", got)
	}
	if got := FindConclusions(
		"Looking.\nIt turned out that the port was taken. Next I fix it.",
	); !slices.Equal(got, []string{"It turned out that the port was taken."}) {
		t.Errorf("Concluded() = %q", got)
	}
}

// TestWordBoundaries tests that FindRememberRequests does not find a word inside a longer word, such as "forget" in
// "Unforgettable". It also tests that normalizeSentence separates a word from a neighbouring word in another script.
func TestWordBoundaries(t *testing.T) {
	for _, s := range []string{"Unforgettable, remembers that.", "Hallway always.", "Непомни: это.",
		"Nevertheless use it.", "rememberthat we use pnpm"} {
		if got := FindRememberRequests(s); got != nil {
			t.Errorf("Asked(%q) = %q", s, got)
		}
	}
	for s, want := range map[string]string{
		"Don’t use `snake_case`!": " don t use snakecase ! ",
		"记住use pnpm，好":            " 记住 use pnpm , 好 ",
		"Müller's Straße":         " muller s strasse ",
		"":                        "",
		"ﾃｽﾄ":                     " ﾃｽﾄ ",
	} {
		if got := normalizeSentence(s); got != want {
			t.Errorf("words(%q) = %q, want %q", s, got, want)
		}
	}
}

// FuzzFind tests that each found sentence occurs in the text, has an allowed length and is returned once, and that the
// results for equal texts are equal.
func FuzzFind(f *testing.F) {
	for _, ex := range examples {
		f.Add(strings.Join(ex.yes, " ") + "\n" + strings.Join(ex.no, "\n"))
	}
	f.Add("```\n~~~\n> \n- ")
	f.Add("\xff\xfe remember that \xff")
	f.Fuzz(func(t *testing.T, text string) {
		for _, find := range []func(string) []string{FindRememberRequests, FindConclusions, func(s string) []string {
			return []string{FindCorrection(s)}
		}} {
			got := find(text)
			if len(got) > maxFoundSentences || !slices.Equal(got, find(text)) {
				t.Fatalf("found %q", got)
			}
			for i, s := range got {
				if !strings.Contains(text, s) || len(s) > maxSentenceBytes || slices.Contains(got[:i], s) ||
					(utf8.ValidString(text) && !utf8.ValidString(s)) {
					t.Fatalf("found %q in %q", s, text)
				}
			}
		}
	})
}

// TestWorkIsLinear tests that the work for a text grows in proportion to its length.
func TestWorkIsLinear(t *testing.T) {
	for _, unit := range []string{"a ", "remember that ", ". ", "记住", "> ", "```\n", "e.g. ", "no, ", "\xff",
		"always use x. ", "' "} {
		count := func(n int) (sentences_ int) {
			splitSentences(strings.Repeat(unit, n), func(s string) bool {
				if len(s) > maxSentenceBytes {
					t.Fatalf("a sentence of %d bytes", len(s))
				}
				sentences_ += len(normalizeSentence(s))
				return true
			})
			return sentences_
		}
		if one, ten := count(1000), count(10_000); ten > 10*one+4*maxSentenceBytes {
			t.Errorf("%q: %d bytes of words for 1,000, %d for 10,000", unit, one, ten)
		}
	}
}
