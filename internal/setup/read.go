// This file finds oxbow's server in the files of clients.

package setup

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
)

// ServerEntry is an entry in a client's configuration file that describes an MCP server.
type ServerEntry struct {
	Client, Path string // client's title, and path of the file with the entry
	Server       Server
}

// ServerEntries returns those entries in the client's files that start oxbow as a server. The only options that it uses
// are ForProject and Executable.
func (c *Client) ServerEntries(w Machine, o Options) (all []ServerEntry) {
	own := w.knownOxbowPrograms(o)
	for _, f := range c.desiredFiles(w, Options{Executable: cmp.Or(o.Executable, programName),
		ForProject: o.ForProject}) {
		var servers map[string]Server
		b, err := readFile(f.path)
		if err != nil || len(f.serversPath) == 0 {
			continue
		}
		_, b = splitBOM(b)
		if f.editTOML != nil {
			if t, err := parseTOML(b); err == nil {
				raw, _ := json.Marshal(t.valueAt(f.serversPath...))
				_ = json.Unmarshal(raw, &servers)
			}
		} else if d, err := parseJSON(b); err == nil {
			var raw map[string]json.RawMessage
			d.decodeAt(&raw, f.serversPath...)
			servers = map[string]Server{}
			for name, r := range raw {
				var s Server
				if json.Unmarshal(r, &s) == nil {
					servers[name] = s
				}
			}
		}
		for _, s := range servers {
			if own.isServerEntry(s) {
				all = append(all, ServerEntry{c.Title, filepath.Clean(f.path), s})
			}
		}
	}
	return all
}

const byteOrderMark = "\ufeff"

// splitBOM splits a text into the byte order mark, if it has one, and the rest.
func splitBOM(text []byte) (bom, rest []byte) {
	if rest, ok := bytes.CutPrefix(text, []byte(byteOrderMark)); ok {
		return []byte(byteOrderMark), rest
	}
	return nil, text
}

func joinBOM(bom, text []byte) []byte {
	// The result is never nil, because nil means that the file does not exist.
	return append(append([]byte{}, bom...), text...)
}
