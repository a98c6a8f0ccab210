// This file tests which prompts are questions.

package gate

import "testing"

func TestAsks(t *testing.T) {
	for prompt, want := range map[string]bool{
		"Where do we feed the watchdog?":                      true,
		"The flag does nothing.\nis that known":               true,
		"how often do we deploy":                              true,
		"Wann läuft das Zertifikat ab":                        true,
		"Où sont les sauvegardes":                             true,
		"¡Hola!\ncuándo es la entrega":                        true,
		"服务器在哪里":                                              true,
		"デプロイはいつですか":                                          true,
		"Rename SaveGame to SaveFile.":                        false,
		"Do the same for the other file.":                     false,
		"Show me where the lock is taken.":                    false,
		"The 32 kHz clock dies as soon as I touch it.":        false,
		"Benenne die Klasse um.":                              false,
		"Ajoute un test.":                                     false,
		"提交这些修改":                                              false,
		"テストを実行してください":                                        false,
		"":                                                    false,
		"Thanks, that is what I wanted. Now do the other one": false,
	} {
		if got := IsQuestion(prompt); got != want {
			t.Errorf("Asks(%q) = %t, want %t", prompt, got, want)
		}
	}
}
