// This file tests that each client uses oxbow after a single call of oxbow setup: its model can write and read
// entries, and its session is recorded.

package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const sentence = "We ship on Tuesdays, never on Fridays."

// oxbow builds the program oxbow and returns its path.
func oxbow(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "oxbow")
	if out, err := exec.Command("go", "build", "-C", "../..", "-o", path, "./cmd/oxbow").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

func TestClients(t *testing.T) { eachClient(t, accept) }

// eachClient calls test for each client that is installed. argv is the command line of the client, program is the path
// of oxbow, and modules is the directory node_modules of the client.
func eachClient(all *testing.T, test func(t *testing.T, c *testedClient, argv []string, program, modules string)) {
	dir, program := os.Getenv(clientsEnv), ""
	for _, c := range testedClients {
		all.Run(c.name, func(t *testing.T) {
			argv := c.commandLine(dir)
			switch {
			case argv == nil && isClientRequired(c.name):
				t.Fatal("OXBOW_REQUIRE names it: " + c.failureHint(dir))
			case argv == nil:
				t.Skip(c.failureHint(dir))
			case program == "":
				program = oxbow(all)
			}
			test(t, &c, argv, program, filepath.Join(dir, c.name, "node_modules"))
		})
	}
}

// person is somebody who has a new home directory, a project, and a client.
type person struct {
	t             *testing.T
	home, project string
	env           []string
}

func newPerson(t *testing.T, c *testedClient, program, modules, url string) *person {
	t.Helper()
	p := newPersonWithoutSetup(t, c, program, modules, url)
	p.run(program, "setup", c.name, "--yes", "--trust")
	return p
}

func newPersonWithoutSetup(t *testing.T, c *testedClient, program, modules, url string) *person {
	t.Helper()
	p := &person{t: t, home: t.TempDir(), project: t.TempDir()}
	more, err := c.writeConfig(p.home, url)
	if err != nil {
		t.Fatal(err)
	}
	p.env = append([]string{"HOME=" + p.home, "PATH=" + filepath.Dir(program) + string(os.PathListSeparator) +
		os.Getenv("PATH"), "TERM=dumb", "NO_COLOR=1", "TMPDIR=" + t.TempDir()}, more...)
	if c.name == "opencode" { // Otherwise opencode would download its plug-in package from npm.
		if err := os.Symlink(modules, filepath.Join(p.home, ".config", "opencode", "node_modules")); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"package.json", "package-lock.json"} {
			if b, err := os.ReadFile(filepath.Join(filepath.Dir(modules), name)); err == nil {
				err = os.WriteFile(filepath.Join(p.home, ".config", "opencode", name), b, 0o600)
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return p
}

// run runs a command in the project. It returns what the command prints to standard output and standard error. A
// command that fails ends the test.
func (p *person) run(argv ...string) string {
	p.t.Helper()
	out, said := p.runApart(argv...)
	return out + said
}

// runApart is like run, but returns standard output and standard error separately.
func (p *person) runApart(argv ...string) (out, said string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = p.project
	cmd.Env = p.env
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		p.t.Fatalf("%q: %v\n%s\n%s", argv, err, tail(stdout.Bytes()), tail(stderr.Bytes()))
	}
	return stdout.String(), stderr.String()
}

// accept sets up a client in a new home and runs it once. It checks what the model got and what is recorded. Then it
// removes oxbow from the client and checks that nothing is left.
func accept(t *testing.T, c *testedClient, argv []string, program, modules string) {
	m := &scriptedModel{makeToolCall: c.makeToolCall, mainConversationMarker: testPromptMarker, steps: []scriptStep{
		{toolName: "remember", input: jsonObject{"name": "deploy-day", "content": sentence}},
		{toolName: "recall", input: jsonObject{"query": "when do we ship"}},
	}}
	s := httptest.NewServer(m)
	defer s.Close()
	p := newPerson(t, c, program, modules, s.URL)
	if out := p.run(program, "setup", c.name, "--yes", "--trust", "--json"); strings.Contains(out, `"did":"changed"`) {
		t.Errorf("a second run changed something: %s", out)
	}
	p.run(slices.Concat(argv, c.runArgs, []string{"Please do it. " + testPromptMarker})...)

	if got := m.lastRequest(); strings.Count(got, "never on Fridays") < 2 {
		t.Errorf("the model was not given what it recalled: %s", tail([]byte(got)))
	}
	if out := p.run(program, "get", "deploy-day"); !strings.Contains(out, sentence) {
		t.Errorf("the memory holds %q", out)
	}
	var archive struct {
		Sessions []struct {
			Client, Session string
			Turns           int
		}
	}
	out := p.run(program, "session", "list", "--json")
	if err := json.Unmarshal([]byte(out), &archive); err != nil || len(archive.Sessions) != 1 ||
		archive.Sessions[0].Client != c.name || archive.Sessions[0].Turns != 1 {
		t.Fatalf("%v; want one turn of one session of %s: %s", err, c.name, out)
	}
	kept := p.run(program, "session", "show", archive.Sessions[0].Session, "--json")
	for want, times := range map[string]int{`"kind":"prompt"`: 1, testPromptMarker: 1, `"kind":"call"`: 2} {
		if got := strings.Count(kept, want); got < times || (want != testPromptMarker && got > times) {
			t.Errorf("the archive has %s %d times, want %d:\n%s", want, got, times, tail([]byte(kept)))
		}
	}
	// The hooks and the client's own files record the same turn, so an import must add nothing.
	p.run(program, "session", "import", "all")
	if again := p.run(program, "session", "list", "--json"); again != out {
		t.Errorf("an import changed the archive:\n%s\nwas\n%s", again, out)
	}
	p.run(program, "setup", "--remove")
	leftBehind(t, p.home, program)
}

// onlySession returns the identifier of the session in the archive. It ends the test if there is not exactly one.
func (p *person) onlySession(program string) string {
	p.t.Helper()
	var archive struct{ Sessions []struct{ Session string } }
	out := p.run(program, "session", "list", "--json")
	if err := json.Unmarshal([]byte(out), &archive); err != nil || len(archive.Sessions) != 1 {
		p.t.Fatalf("%v; want one session: %s", err, out)
	}
	return archive.Sessions[0].Session
}

// leftBehind fails the test if a .json, .toml or .js file below the directory home still contains the path program. It
// skips the directories .cache and .local. It also fails the test if files other than trusted.began are left in
// .config/oxbow.
func leftBehind(t *testing.T, home, program string) {
	t.Helper()
	err := filepath.WalkDir(home, func(p string, d os.DirEntry, err error) error {
		if err != nil || (d.IsDir() && (d.Name() == ".cache" || d.Name() == ".local")) {
			return filepath.SkipDir
		}
		if ext := filepath.Ext(p); !d.Type().IsRegular() || (ext != ".json" && ext != ".toml" && ext != ".js") {
			return nil
		}
		if b, err := os.ReadFile(p); err == nil && bytes.Contains(b, []byte(program)) {
			t.Errorf("%s still starts oxbow:\n%s", p, tail(b))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	files, _ := os.ReadDir(filepath.Join(home, ".config", "oxbow"))
	for _, file := range files {
		// The file trusted.began records when oxbow began to record trusted homes. Setup does not remove it.
		if file.Name() != "trusted.began" {
			t.Errorf("%q is left in the configuration directory", file)
		}
	}
}

func tail(b []byte) []byte { return b[max(0, len(b)-3000):] }
