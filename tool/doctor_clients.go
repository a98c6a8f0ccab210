// What doctor looks at in the configurations of MCP clients: whether the home
// that they start oxbow on is this one.

package tool

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/text"
)

// clientServer is how a client starts a server: the command is one string, or
// with its arguments a list.
type clientServer struct {
	Command     any
	Args        []string
	Env         map[string]string
	Environment map[string]string // as opencode calls it
}

// clients returns how the clients of this user start oxbow. What cannot be read
// is left out: the client itself says so.
func (d *diagnosis) clients() map[string][]clientServer {
	get := d.w.Host.Getenv
	user := get("HOME")
	if d.w.Host.GOOS == "windows" {
		user = get("USERPROFILE")
	}
	all := map[string][]clientServer{}
	if user == "" {
		return all
	}
	for name, file := range map[string]string{"Claude Code": ".claude.json", "Gemini CLI": ".gemini/settings.json",
		"Qwen Code": ".qwen/settings.json", "Copilot": ".copilot/mcp-config.json", "Cursor": ".cursor/mcp.json",
		"opencode": ".config/opencode/opencode.json"} {
		var c struct {
			MCP, MCPServers map[string]clientServer
		}
		if b, err := readRegular(filepath.Join(user, filepath.FromSlash(file))); err == nil && json.Unmarshal(b, &c) == nil {
			all[name] = slices.AppendSeq(slices.Collect(maps.Values(c.MCP)), maps.Values(c.MCPServers))
		}
	}
	if b, err := readRegular(filepath.Join(cmp.Or(get("CODEX_HOME"), filepath.Join(user, ".codex")), "config.toml")); err == nil {
		all["Codex"] = codexServers(string(b))
	}
	return all
}

// readRegular reads a file, and no pipe, which would be waited for.
func readRegular(path string) ([]byte, error) {
	if fi, err := os.Stat(path); err != nil || !fi.Mode().IsRegular() {
		return nil, cmp.Or(err, fs.ErrInvalid)
	}
	return os.ReadFile(path)
}

// codexServers reads the tables [mcp_servers.NAME] and [mcp_servers.NAME.env] as
// Codex writes them: a key on each line.
func codexServers(config string) (all []clientServer) {
	env := false
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			in := strings.HasPrefix(line, "[mcp_servers.")
			if env = in && strings.HasSuffix(line, ".env]"); !env {
				all = append(all, clientServer{Env: map[string]string{}}) // of another table: it has no command
			}
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		key = strings.TrimSpace(key)
		if len(all) == 0 {
			continue
		}
		s := &all[len(all)-1]
		switch {
		case env:
			var v string
			_ = json.Unmarshal([]byte(value), &v)
			s.Env[key] = v
		case key == "command":
			_ = json.Unmarshal([]byte(value), &s.Command)
		case key == "args":
			_ = json.Unmarshal([]byte(value), &s.Args)
		}
	}
	return all
}

// home returns the home that the client names, "" for none, and whether it
// starts oxbow as a server at all.
func (s clientServer) home() (home string, ok bool) {
	argv := s.Args
	switch c := s.Command.(type) {
	case string:
		argv = append([]string{c}, argv...)
	case []any:
		for _, a := range c {
			word, _ := a.(string)
			argv = append(argv, word)
		}
	}
	if len(argv) == 0 || strings.TrimSuffix(filepath.Base(argv[0]), ".exe") != "oxbow" || !slices.Contains(argv, "mcp") {
		return "", false
	}
	home = cmp.Or(s.Env["OXBOW_HOME"], s.Environment["OXBOW_HOME"])
	for i, a := range argv {
		if v, ok := strings.CutPrefix(a, "--home="); ok {
			home = v
		} else if a == "--home" && i+1 < len(argv) {
			home = argv[i+1]
		}
	}
	return home, true
}

// clientHomes compares the homes of the clients with this one.
func (d *diagnosis) clientHomes() {
	const about = "clients"
	all := d.clients()
	byVariable := d.place.Rule == "$OXBOW_HOME" || !d.place.Found && d.place.Rule != "--home" && d.w.Host.Getenv("XDG_DATA_HOME") != ""
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var others []string
		same, blind := false, false
		for _, s := range all[name] {
			home, ok := s.home()
			switch {
			case !ok:
			case home == "":
				blind = true
			case SameFile(home, d.place.Home) || filepath.Clean(home) == d.place.Home:
				same = true
			default:
				others = append(others, home)
			}
		}
		mend := "start it there as: oxbow --home " + text.ShellQuote(d.place.Home) + " mcp"
		switch {
		case same:
			d.add(fine, about, "", "%s starts oxbow on this home", name)
		case blind && byVariable:
			d.add(warning, about, mend, "%s starts oxbow without --home, and a variable of this shell chose the home: a client that does not pass it on serves another memory", name)
		case blind:
			d.add(fine, about, "", "%s starts oxbow on the home that it finds", name)
		case len(others) > 0:
			d.add(warning, about, mend, "%s starts oxbow on %s, not on this home", name, strings.Join(others, ", "))
		}
	}
}
