// This file tests that each client still works if the program oxbow is missing or refuses its memory.

package clients

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestStarts(t *testing.T) { eachClient(t, startsWithoutMemory) }

// startsWithoutMemory runs a client twice. In the first run, oxbow refuses the home, because other users may write to
// it. In the second run, the program that setup wrote into the client's files is missing. The model must get the
// prompt both times.
func startsWithoutMemory(t *testing.T, c *testedClient, argv []string, program, modules string) {
	m := &scriptedModel{makeToolCall: c.makeToolCall, mainConversationMarker: testPromptMarker}
	s := httptest.NewServer(m)
	defer s.Close()
	b, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	installed := filepath.Join(t.TempDir(), "oxbow")
	if err := os.WriteFile(installed, b, 0o700); err != nil {
		t.Fatal(err)
	}
	p := newPerson(t, c, installed, modules, s.URL)
	p.run(installed, "init")
	home := filepath.Join(p.project, ".oxbow")
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"others may write to the home", func() error { return os.Chmod(home, 0o777) }},
		{"the program is gone", func() error { return os.Remove(installed) }},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		m.startConversation(testPromptMarker)
		said := p.run(slices.Concat(argv, c.runArgs, []string{"Please do it. " + testPromptMarker})...)
		if len(m.mainConversationRequests) == 0 {
			t.Errorf("%s: the model was not asked: %s", step.name, tail([]byte(said)))
		}
	}
}
