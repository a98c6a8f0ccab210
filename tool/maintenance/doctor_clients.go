// What doctor looks at in the configurations of MCP clients: whether the home
// that they start oxbow on is this one.

package maintenance

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/text"
	"github.com/oxbow-memory/oxbow/setup"
	"github.com/oxbow-memory/oxbow/tool"
)

func gone(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

const aboutClients = "clients"

// homesOf reports whether one of a client's servers is given this home, whether one
// is given none, and the other homes.
func (d *diagnosis) homesOf(client string, servers []setup.Server) (same, blind bool, others []string) {
	for _, s := range servers {
		argv, home := s.Argv(), s.Home()
		if filepath.IsAbs(argv[0]) && gone(argv[0]) {
			d.add(warning, aboutClients, "oxbow setup sets it up again", "%s starts %s, which is gone", client, argv[0])
		}
		switch {
		case home == "":
			blind = true
		case tool.SameFile(home, d.place.Home) || filepath.Clean(home) == d.place.Home:
			same = true
		default:
			others = append(others, home)
		}
	}
	return same, blind, others
}

// clientHomes compares the homes of the clients with this one.
func (d *diagnosis) clientHomes() {
	const about = aboutClients
	get := d.w.Host.Getenv
	user := get("HOME")
	if d.w.Host.GOOS == "windows" {
		user = get("USERPROFILE")
	}
	all := map[string][]setup.Server{}
	if user != "" {
		for _, e := range setup.Servers(setup.World{Getenv: get, GOOS: d.w.Host.GOOS, User: user}) {
			all[e.Client] = append(all[e.Client], e.Server)
		}
	}
	byVariable := d.place.Rule == "$OXBOW_HOME" || !d.place.Found && d.place.Rule != "--home" && d.w.Host.Getenv("XDG_DATA_HOME") != ""
	for _, name := range slices.Sorted(maps.Keys(all)) {
		same, blind, others := d.homesOf(name, all[name])
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
