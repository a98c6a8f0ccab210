// This file tests that setup does not change what people and other programs wrote in a client's files.

package setup

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// generated returns a random configuration file. It may have comments, trailing commas, foreign entries, an unusual
// indentation or line ending, or a byte order mark.
func generated(r *rand.Rand, c *Client, f clientFile) string {
	if f.editTOML != nil {
		return finish(r, generatedTOML(r))
	}
	indent, comments := []string{"  ", "\t", "    ", ""}[r.IntN(4)], r.IntN(2) == 0
	var value func(depth int) string
	line := func(depth int) string { return "\n" + strings.Repeat(indent, depth) }
	comment := func(depth int) string {
		if !comments || r.IntN(3) > 0 {
			return ""
		}
		if r.IntN(2) == 0 {
			return line(depth) + `// it's {"a", note`
		}
		return " /* a } note */"
	}
	object := func(depth int, members []string) string {
		if len(members) == 0 {
			return []string{"{}", "{ }", "{" + line(depth-1) + "}"}[r.IntN(3)]
		}
		out := "{"
		for i, m := range members {
			out += comment(depth) + line(depth) + m
			if i < len(members)-1 || (comments && r.IntN(3) == 0) {
				out += ","
			}
			if comments && r.IntN(4) == 0 {
				out += " // after"
			}
		}
		return out + comment(depth) + line(depth-1) + "}"
	}
	value = func(depth int) string {
		switch n := r.IntN(6); {
		case n == 0:
			return `"täxt // \"none\""`
		case n == 1:
			return `[1, 2.50, {"a":null}]`
		case n == 2 || depth > 3:
			return `true`
		}
		var members []string
		for i := range r.IntN(3) {
			members = append(members, fmt.Sprintf(`"k%d": %s`, i, value(depth+1)))
		}
		return object(depth, members)
	}
	members := []string{`"theme" : ` + value(2)}
	if r.IntN(2) == 0 && len(f.serversPath) > 0 {
		members = append(
			members,
			fmt.Sprintf(
				"%q: %s",
				f.serversPath[0],
				object(2, []string{`"other": {"command":"other","args":["mcp"]}`}[:r.IntN(2)]),
			),
		)
	}
	if r.IntN(2) == 0 {
		list := []string{`[]`, `["Bash", "Read"]`, "[" + line(3) + `"Bash"` + line(2) + "]"}[r.IntN(3)]
		members = append(
			members,
			`"permissions": `+object(2, []string{`"allow": ` + list, `"deny": []`}[:1+r.IntN(2)]),
		)
	}
	if r.IntN(2) == 0 && len(c.events) > 0 {
		e := c.events[r.IntN(len(c.events))].name
		members = append(members, `"hooks": `+
			object(
				2,
				[]string{fmt.Sprintf(`"%s": [{"hooks":[{"type":"command","command":"foreign hook"}]}]`, e)}[:r.IntN(2)],
			))
	}
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	text := object(1, members)
	switch r.IntN(12) {
	case 0:
		text = "{}"
	case 1:
		text = ""
	case 2:
		text = `{"a":1}`
	}
	return finish(r, comment(0)+"\n"+text)
}

func generatedTOML(r *rand.Rand) string {
	parts := []string{"# a note\nmodel = \"m\" # why\n", "\n[profiles.a]\nx = [\n 1,\n 2, # two\n]\n",
		"\n[mcp_servers.other]\ncommand = 'c'\n[mcp_servers.other.env]\nA=\"b\"\n",
		"\n\n[[list]]\nn = 1\n[[list]]\nn = 2\n", "\n[hooks.state.\"/x:stop:0:0\"]\ntrusted_hash = \"sha256:0\"\n\n"}
	text := ""
	for _, p := range parts {
		if r.IntN(2) == 0 {
			text += p
		}
	}
	return text
}

func finish(r *rand.Rand, text string) string {
	if r.IntN(2) == 0 && text != "" {
		text += "\n"
	}
	if r.IntN(3) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if r.IntN(4) == 0 && text != "" {
		text = byteOrderMark + text
	}
	return text
}

// TestGenerated sets up clients whose files are random. Removing oxbow must restore all bytes, a second setup must
// change nothing, a new path of the program must change only the path, and edits by others between setup and removal
// must be kept.
func TestGenerated(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 1))
	for n := range testenv.RepeatCount(4, 25) {
		for _, c := range Clients() { // testenv.RepeatCount sets how many configurations of each client are made
			dir := t.TempDir()
			w, o := world(dir), options()
			o.SwitchMemoryOff, o.TrustCodexHooks = r.IntN(2) == 0, r.IntN(2) == 0
			for _, f := range c.configFiles(w, o) {
				if f.isOwnedByOxbow || r.IntN(5) == 0 {
					continue
				}
				write(t, f.path, generated(r, c, f))
			}
			write(t, filepath.Join(dir, "u/keep"), "")
			what := fmt.Sprintf("%s, configuration %d", c.Name, n)
			before := tree(t, dir)
			run(t, c, w, o, false)
			once := tree(t, dir)
			foreignStays(t, what, before, once)
			run(t, c, w, o, false)
			equalTrees(t, what+", twice", tree(t, dir), once)

			moved := o
			moved.Executable = absolutePath("/elsewhere/oxbow")
			run(t, c, w, moved, false)
			for p, text := range tree(t, dir) {
				if want := strings.ReplaceAll(once[p], o.Executable, moved.Executable); text != want &&
					!strings.Contains(p, "oxbow/setup") && !strings.Contains(text, "trusted_hash") {
					t.Errorf("%s, moved: %s is\n%s\nwant\n%s", what, p, text, want)
				}
			}
			if r.IntN(2) == 0 {
				run(t, c, w, o, true)
				equalTrees(t, what+", removed", tree(t, dir), before)
			} else {
				editsStay(t, what, c, w, moved)
			}
			if t.Failed() {
				return
			}
		}
	}
}

// foreignStays checks that setup kept what others wrote in the files. Each file in the map after must contain all
// values that it has in the map before. It must also have the same kind of line ends, and a byte order mark only if it
// had one.
func foreignStays(t *testing.T, what string, before, after map[string]string) {
	t.Helper()
	for p, text := range before {
		if _, b := splitBOM([]byte(text)); strings.HasSuffix(p, "/") || !holdsValue(b) {
			continue
		}
		was, is := decoded(t, p, text), decoded(t, p, after[p])
		if !within(was, is) {
			t.Errorf("%s: %s lost something:\n%s\nis\n%s", what, p, text, after[p])
		}
		if bom, crlf := strings.HasPrefix(
			after[p],
			byteOrderMark,
		), strings.Count(after[p], "\r\n"); bom != strings.HasPrefix(text, byteOrderMark) ||
			(strings.Contains(text, "\r\n") && crlf != strings.Count(after[p], "\n")) {
			t.Errorf("%s: %s has other line ends or another mark: %q", what, p, after[p])
		}
	}
}

// holdsValue reports whether a text contains anything but white space and comments. For a text of only white space and
// comments, parseJSON inserts an empty object and sets the field original of its result. If original is nil, or if
// parseJSON fails, the text contains something else.
func holdsValue(text []byte) bool {
	d, err := parseJSON(text)
	return err != nil || d.originalText == nil
}

func decoded(t *testing.T, p, text string) (v any) {
	t.Helper()
	_, b := splitBOM([]byte(text))
	if strings.HasSuffix(p, ".toml") {
		m := map[string]any{}
		if err := toml.Unmarshal(b, &m); err != nil {
			t.Fatalf("%s: %v in\n%s", p, err, text)
		}
		return m
	}
	d, err := parseJSON(b)
	if err != nil {
		t.Fatalf("%s: %v in\n%s", p, err, text)
	}
	if err := json.Unmarshal(toStandardJSON(&d.root), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// within reports whether b contains everything that a contains, with the elements of lists in the same order.
func within(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		m, ok := b.(map[string]any)
		for k, v := range a {
			ok = ok && within(v, m[k])
		}
		return ok
	case []any:
		list, ok := b.([]any)
		for _, v := range a {
			for len(list) > 0 && !within(v, list[0]) {
				list = list[1:]
			}
			if len(list) == 0 {
				return false
			}
			list = list[1:]
		}
		return ok
	}
	// setup may switch a client's memory from true to false
	return a == b || reflect.DeepEqual(a, b) || (a == true && b == false)
}

// editsStay edits every file as other programs would, removes oxbow, and checks that the edits are kept.
func editsStay(t *testing.T, what string, c *Client, w Machine, o Options) {
	t.Helper()
	want := map[string]any{}
	for _, f := range c.configFiles(w, o) {
		b, err := os.ReadFile(f.path)
		if err != nil || f.isOwnedByOxbow {
			continue
		}
		bom, text := splitBOM(b)
		if f.editTOML != nil {
			text = append(text, "\n[foreign]\nedit = true\n"...)
		} else {
			d, err := parseJSON(text)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.setValue(true, "foreign"); err != nil {
				t.Fatal(err)
			}
			text = d.text
		}
		r, err := w.readRecord(f.path)
		if err != nil || r == nil {
			t.Fatalf("%s: no record of %s: %v", what, f.path, err)
		}
		original, err := r.originalText()
		if err != nil {
			t.Fatal(err)
		}
		m := decoded(t, f.path, string(original)).(map[string]any)
		if f.editTOML != nil {
			m["foreign"] = map[string]any{"edit": true}
		} else {
			m["foreign"] = true
		}
		want[f.path] = m
		write(t, f.path, string(joinBOM(bom, text)))
	}
	run(t, c, w, o, true)
	for p, m := range want {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if got := decoded(t, p, string(b)); !reflect.DeepEqual(got, m) {
			t.Errorf("%s: after the removal %s is\n%s\nwant %v", what, p, b, m)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(w.StateDir, "*")); len(left) > 0 {
		t.Errorf("%s: %q are left", what, left)
	}
}

// odd contains unusual configuration files, as people and programs leave them.
var odd = map[string]string{
	"empty lists": "{\"hooks\": {\"Stop\": [], \"SessionStart\": [ ]}, \"permissions\": {\"allow\": []}, " +
		"\"mcpServers\": {}}\n",
	"null":           `{"mcpServers": null, "hooks": null, "permissions": {"allow": null}, "mcp": null, "servers": null, "context_servers": null}`,
	"twice":          `{"hooks":{"Stop":[]},"mcpServers":{"a":{"command":"a"}},"hooks":{"Stop":[],"Stop":[{"hooks":[{"type":"command","command":"f"}]}]},"mcpServers":{"b":{"command":"b"}}}`,
	"other case":     `{"Hooks": {"Stop": [1]}, "MCPSERVERS": {}}`,
	"deep":           `{"x":` + strings.Repeat("[", 800) + strings.Repeat("]", 800) + `}`,
	"no line end":    "{\n\t\"a\": \"\u2028 💥\"}",
	"not UTF-8":      "{\"a\": \"\xe9\"}",
	"white space":    " \r\n\t\r\n",
	"only a comment": "// a note",
	"trailing":       "{\"mcpServers\": {\"o\": {\"command\": \"o\"},},\n// end\n}\r\n",
}

// TestWithoutARecord removes oxbow's parts that were written by a setup on another machine, or that a person moved and
// rewrote.
func TestWithoutARecord(t *testing.T) {
	w, o := world(t.TempDir()), options()
	c := FindClient("claude")
	settings := filepath.Join(w.UserHomeDir, ".claude/settings.json")
	write(
		t,
		settings,
		`{"hooks":{"Stop":[{"hooks":[{"command":"/a/oxbow","args":["hook","claude"],"type":"command"},{"type":"command","command":"mine"}]}]},"permissions":{"allow":["mcp__oxbow__recall","Bash"]}}`,
	)
	write(
		t,
		filepath.Join(w.UserHomeDir, ".claude.json"),
		fmt.Sprintf("{\"mcpServers\":{\n\"oxbow\":{\"args\":[\"mcp\"],\"command\":%q}},\"n\":1e3}",
			absolutePath("/a/oxbow")),
	)
	run(t, c, w, o, true)
	got := tree(t, w.UserHomeDir)
	if got[".claude/settings.json"] != `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]},"permissions":{"allow":["Bash"]}}` ||
		got[".claude.json"] != "{\"n\":1e3}" {
		t.Errorf("left: %q", got)
	}
}

// TestByHand tests configurations in which a person wrote or changed the server entry of oxbow. Setup must keep added
// arguments and fields, set the program's path, and enable the server. If the entry has a form that setup cannot edit,
// Plan must return an error. Removing oxbow must restore the person's text.
func TestByHand(t *testing.T) {
	for _, c := range []struct{ client, path, text, want string }{
		{
			"claude",
			".claude.json",
			`{"mcpServers":{"oxbow":{"command":"oxbow","args":["--tools","full","mcp"],"env":{"A":"b"}}}}`,
			`{"mcpServers":{"oxbow":{"command":"/opt/oxbow/bin/oxbow","args":["--tools","full","mcp"],"env":{"A":"b"}, "type":"stdio", "alwaysLoad":true}}}`,
		},
		{
			"opencode",
			".config/opencode/opencode.jsonc",
			`{"mcp": {"oxbow": {"type": "local", "command": ["oxbow", "mcp", "--ro"], "enabled": false}}}`,
			`{"mcp": {"oxbow": {"type": "local", "command": ["/opt/oxbow/bin/oxbow","mcp","--ro"], "enabled": true}}}`,
		},
		{
			"codex",
			".codex/config.toml",
			"[mcp_servers]\noxbow = { command = \"oxbow\", args = [\"mcp\"] } # by hand\n",
			"",
		},
		{
			"codex",
			".codex/config.toml",
			"[mcp_servers.oxbow] # by hand\ncommand = 'oxbow'\nargs = ['mcp', " +
				"'--ro']\n[mcp_servers.oxbow.env]\nA='b'\n",
			"[mcp_servers.oxbow] # by hand\ncommand = \"/opt/oxbow/bin/oxbow\"\nargs = ['mcp', " +
				"'--ro']\nstartup_timeout_sec = 20\n[mcp_servers.oxbow.env]\nA='b'\n",
		},
	} {
		w := world(t.TempDir())
		path := filepath.Join(w.UserHomeDir, c.path)
		write(t, path, c.text)
		all, err := FindClient(c.client).Plan(w, options())
		if c.want == "" {
			if err == nil || !strings.Contains(err.Error(), "header") {
				t.Errorf("%s: %v", c.text, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		for _, ch := range all {
			if err := ch.Apply(); err != nil {
				t.Fatal(err)
			}
		}
		if got := tree(t, w.UserHomeDir)[c.path]; got != c.want {
			t.Errorf("%s became\n%s\nwant\n%s", c.text, got, c.want)
		}
		run(t, FindClient(c.client), w, options(), true)
		if got := tree(t, w.UserHomeDir)[c.path]; got != c.text {
			t.Errorf("%s came back as\n%s", c.text, got)
		}
	}
}

// TestRefused tests that Plan returns an error and changes no file if a configuration file is not valid, contains a
// value of the wrong type or contains another server named oxbow. The error must contain the position in the file or
// the key of the value.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  \"a\": 1,\n  b\n}":         "line 3, column 3",
		"[]":                             "line 1, column 1",
		"{\"mcpServers\": 3}":            "mcpServers: it is no object",
		"{\"mcpServers\": []}":           "mcpServers: it is no object",
		"{\"hooks\": {\"Stop\": \"x\"}}": "hooks.Stop: it is no list",
		`{"mcpServers":{"oxbow":{"command":"ox","args":[]}}}`: "another server",
	} {
		w := world(t.TempDir())
		for _, p := range []string{".claude.json", ".claude/settings.json"} {
			write(t, filepath.Join(w.UserHomeDir, p), text)
		}
		before := tree(t, w.UserHomeDir)
		if _, err := FindClient("claude").Plan(w, options()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		equalTrees(t, text, tree(t, w.UserHomeDir), before)
	}
	w := world(t.TempDir())
	write(t, filepath.Join(w.UserHomeDir, ".codex/config.toml"), "a = 1\nb =\n")
	if _, err := FindClient("codex").Plan(w, options()); err == nil ||
		!strings.Contains(err.Error(), "line 2, column") {
		t.Errorf("Plan = %v", err)
	}
}

// TestLinksAndModes checks that setup writes through a symbolic link, and keeps the link and the file's mode.
func TestLinksAndModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		return
	}
	w := world(t.TempDir())
	write(t, filepath.Join(w.UserHomeDir, "dotfiles/claude.json"), "{}")
	if err := os.Chmod(filepath.Join(w.UserHomeDir, "dotfiles/claude.json"), 0o664); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(w.UserHomeDir, ".claude.json")
	if err := os.Symlink("dotfiles/claude.json", link); err != nil {
		t.Fatal(err)
	}
	for _, remove := range []bool{false, true} {
		run(t, FindClient("claude"), w, options(), remove)
		to, err := os.Readlink(link)
		fi, err2 := os.Stat(link)
		if err != nil || err2 != nil || to != "dotfiles/claude.json" || fi.Mode().Perm() != 0o664 {
			t.Errorf("link to %q, %v, %v, %v", to, fi.Mode(), err, err2)
		}
	}
	if b, _ := os.ReadFile(link); string(b) != "{}" {
		t.Errorf("it is %q", b)
	}
}

// TestChangedMeanwhile checks that setup does not overwrite what a client wrote after the change was planned.
func TestChangedMeanwhile(t *testing.T) {
	w := world(t.TempDir())
	path := filepath.Join(w.UserHomeDir, ".claude.json")
	write(t, path, "{}")
	all, err := FindClient("claude").Plan(w, options())
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, `{"n":2}`)
	if err := all[0].Apply(); !IsFileChangedError(err) {
		t.Errorf("Apply = %v", err)
	}
	run(t, FindClient("claude"), w, options(), false)
	run(t, FindClient("claude"), w, options(), true)
	if b, _ := os.ReadFile(path); string(b) != `{"n":2}` {
		t.Errorf("it is %q", b)
	}
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		sh   shellKind
		argv []string
		want string
	}{
		{shellKindPOSIX, []string{"/usr/bin/oxbow", "hook", "codex"}, "/usr/bin/oxbow hook codex"},
		{shellKindPOSIX, []string{"/my tools/oxbow", "hook", "codex"}, "'/my tools/oxbow' hook codex"},
		{
			shellKindPOSIX,
			[]string{"/it's/öx/oxbow", "--home", "/a 'b' \"c\"", "hook", "codex"},
			`'/it'\''s/öx/oxbow' --home '/a '\''b'\'' "c"' hook codex`,
		},
		{shellKindCmd, []string{`C:\Program Files\oxbow.exe`, "hook", "codex"},
			`"C:\Program Files\oxbow.exe" hook codex`},
		{
			shellKindPowerShell,
			[]string{`C:\Program Files\oxbow.exe`, "--home", `D:\it's`, "hook", "gemini"},
			`& 'C:\Program Files\oxbow.exe' --home 'D:\it''s' hook gemini`,
		},
		{shellKindPowerShell, []string{`C:\bin\oxbow.exe`, "hook", "gemini"}, `C:\bin\oxbow.exe hook gemini`},
	} {
		line := commandLine(c.sh, c.argv)
		if line != c.want {
			t.Errorf("commandLine(%q) = %s, want %s", c.argv, line, c.want)
		}
		own, h := (oxbowPrograms{}), (Server{Command: line})
		if !own.isHookEntry(h, c.argv[len(c.argv)-1]) || own.isHookEntry(h, "other") {
			t.Errorf("%s is not known for a hook", line)
		}
	}
}

// TestTrustedHash tests codexHandlerHash with the JSON text whose hash Codex 0.169 accepted for the hook SessionEnd.
// This text contains the timeout 3 although the configuration contains 10.
func TestTrustedHash(t *testing.T) {
	got := codexHandlerHash(
		"SessionEnd",
		"",
		map[string]any{"type": "command", "command": "/a/oxbow hook codex", "timeout": 10.0},
	)
	if want := "sha256:" + digestHex([]byte(
		`{"event_name":"session_end","hooks":[{"async":false,"command":"/a/oxbow hook codex","timeout":3,"type":"command"}]}`,
	)); got != want {
		t.Errorf("trustedHash = %s, want %s", got, want)
	}
}
