// This file reads a repository's config without running git, because hooks need the config each time they run.

package git

import (
	"path/filepath"
	"strings"
)

// RemoteURL returns the first URL of a remote, or "" if the remote does not exist. Settings url.*.insteadOf are not
// applied.
func (r *Repo) RemoteURL(remote string) string { return r.ConfigValue("remote", remote, "url") }

// ConfigValue returns the first value of a key in a named section, such as remote.origin.url, or "" if the key is not
// set. It reads only the repository's own config, without included files.
func (r *Repo) ConfigValue(section, name, wantedKey string) string {
	b, err := readSmallFile(filepath.Join(r.commonDir, "config"))
	if err != nil {
		return ""
	}
	within := false
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			head, _, _ := strings.Cut(line[1:], "]")
			of, which, _ := strings.Cut(head, " ")
			within = strings.EqualFold(of, section) && strings.TrimSpace(which) == `"`+name+`"`
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !within || !ok {
			continue
		}
		if strings.EqualFold(strings.TrimSpace(key), wantedKey) {
			return parseConfigValue(value)
		}
	}
	return ""
}

// parseConfigValue returns a value without quotes, escapes and comments.
func parseConfigValue(s string) string {
	var b strings.Builder
	quoted := false
	s = strings.TrimSpace(s)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case !quoted && (c == '#' || c == ';'):
			return strings.TrimSpace(b.String())
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(b.String())
}
