// What clients' files say of oxbow's server.

package setup

import (
	"bytes"
	"encoding/json"
	"path/filepath"
)

// Entry is a server that a client's file names.
type Entry struct {
	Client, Path string // the client's title, and the file
	Server       Server
}

// Servers returns how a client starts oxbow.
func (c *Client) Servers(w World, project bool) (all []Entry) {
	for _, f := range c.files(w, Options{Executable: program, Project: project}) {
		var servers map[string]Server
		b, err := readFile(f.path)
		if err != nil || len(f.servers) == 0 {
			continue
		}
		_, b = splitBOM(b)
		if f.toml != nil {
			if t, err := parseTOML(b); err == nil {
				raw, _ := json.Marshal(t.at(f.servers...))
				_ = json.Unmarshal(raw, &servers)
			}
		} else if d, err := parseJSON(b); err == nil {
			var raw map[string]json.RawMessage
			d.decode(&raw, f.servers...)
			servers = map[string]Server{}
			for name, r := range raw {
				var s Server
				if json.Unmarshal(r, &s) == nil {
					servers[name] = s
				}
			}
		}
		for _, s := range servers {
			if s.Oxbow() {
				all = append(all, Entry{c.Title, filepath.Clean(f.path), s})
			}
		}
	}
	return all
}

const byteOrderMark = "\ufeff"

// splitBOM cuts the byte order mark off a text.
func splitBOM(text []byte) (bom, rest []byte) {
	if rest, ok := bytes.CutPrefix(text, []byte(byteOrderMark)); ok {
		return []byte(byteOrderMark), rest
	}
	return nil, text
}

func joinBOM(bom, text []byte) []byte {
	return append(append([]byte{}, bom...), text...) // not nil
}
