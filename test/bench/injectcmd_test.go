// This file tests the command inject.

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// talkSet creates a directory with two questions in the format of LongMemEval.
func talkSet(t *testing.T) string {
	dir := t.TempDir()
	haystack := func(id, said string) string {
		return `"answer_session_ids":["` + id + `"],"haystack_session_ids":["` + id +
			`"],"haystack_dates":["2026/01/01 (Thu) 10:00"],` +
			`"haystack_sessions":[[{"role":"user","content":"` + said +
			`","has_answer":true},{"role":"assistant","content":"Noted."}]]`
	}
	set := `[{"question_id":"q1","question_type":"t","question":"Who repaired the harmonium?",` + haystack(
		"a",
		"Rosa repaired the harmonium.",
	) + `},
{"question_id":"q2","question_type":"t","question":"Where is the theodolite?",` + haystack(
		"b",
		"The theodolite is in the shed.",
	) + `}]`
	if err := os.WriteFile(filepath.Join(dir, "longmemeval_s.json"), []byte(set), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestInjectPrintsTables(t *testing.T) {
	var out bytes.Buffer
	if err := runCommand(t.Context(), []string{"inject", "--data", talkSet(t)}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"LongMemEval: 2 units in 2 memories", "own, n = 2", "foreign, n = 2",
		"| any match ", "| oxbow ", "| … or a pointer ", "switch, n = 2", "LongMemEval: a day"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

func TestInjectPrintsJSON(t *testing.T) {
	var out bytes.Buffer
	if err := runCommand(
		t.Context(),
		[]string{"inject", "--json", "--set", "longmemeval", "--data", talkSet(t)},
		&out,
		io.Discard,
	); err != nil {
		t.Fatal(err)
	}
	var sets []struct {
		Set    string
		Stores int
		Rows   []struct {
			Rule string
			Arms map[string]struct{ N, In int }
		}
	}
	if err := json.Unmarshal(out.Bytes(), &sets); err != nil {
		t.Fatal(err)
	}
	if len(sets) != 1 || sets[0].Set != "LongMemEval" || sets[0].Stores != 2 || len(sets[0].Rows) != 7 {
		t.Fatalf("the sets are %+v", sets)
	}
	if own := sets[0].Rows[0].Arms["own"]; own.N != 2 || own.In != 2 {
		t.Errorf("any match shows the right unit of %+v, want both", own)
	}
}

func TestInjectRefuses(t *testing.T) {
	empty := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--data", filepath.Join(empty, "none")}, "is not a directory; put there one or more of"},
		{[]string{"--data", empty}, "holds none of the sets; put there one or more of\n  LongMemEval: "},
		{
			[]string{"--data", empty, "--set", "scifact"},
			`there is no set "scifact"; there are longmemeval, beam, locomo`,
		},
		{[]string{"--foreign", "0"}, "give numbers above 0"},
	} {
		err := runCommand(t.Context(), append([]string{"inject"}, c.args...), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("inject %q: %v, want %q", c.args, err, c.want)
		}
	}
}
