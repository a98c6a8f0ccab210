package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTurns(t *testing.T) {
	dir := t.TempDir()
	talk := `[{"sample_id": "a", "conversation": {"speaker_a": "Ann", "speaker_b": "Bob",
		"session_1_date_time": "1:56 pm on 8 May, 2023",
		"session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "I keep bees."}, {"speaker": "Bob", "dia_id": "D1:2", "text": "Where?"}]},
		"qa": [{"question": "What does Ann keep?", "answer": "bees", "evidence": ["D1:1"], "category": 4}]}]`
	if err := os.WriteFile(filepath.Join(dir, "locomo10.json"), []byte(talk), 0o600); err != nil {
		t.Fatal(err)
	}
	out := runBench(t, "turns", "--data", dir, "--copies", "3", "--rounds", "2")
	if !strings.Contains(out, "6 turns of LoCoMo in one memory, its 1 questions, each 2 times") {
		t.Errorf("the report is\n%s", out)
	}
	if row := cells(t, out, "seed"); row[4] != "1.00" || row[6] != "1.00" {
		t.Errorf("seed beside itself: %v", row)
	}
	cells(t, out, "oxbow")
	for _, args := range [][]string{{}, {"--data", t.TempDir()}, {"--data", dir, "--rounds", "0"}} {
		var out, log bytes.Buffer
		if err := runCommand(t.Context(), append([]string{"turns"}, args...), &out, &log); err == nil {
			t.Errorf("turns %q: no error", args)
		}
	}
}
