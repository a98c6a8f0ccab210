// The config of a repository, read without git: which remote it was cloned from.

package git

import (
	"path/filepath"
	"strings"
)

// RemoteURL returns the first address of a remote as the repository's own config
// has it, "" for none. Files that the config includes, and what rewrites addresses, are
// not read.
func (r *Repo) RemoteURL(remote string) string {
	b, err := readSmall(filepath.Join(r.common, "config"))
	if err != nil {
		return ""
	}
	within := false
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			head, _, _ := strings.Cut(line[1:], "]")
			section, name, _ := strings.Cut(head, " ")
			within = strings.EqualFold(section, "remote") && strings.TrimSpace(name) == `"`+remote+`"`
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if within && ok && strings.EqualFold(strings.TrimSpace(key), "url") {
			return configValue(value)
		}
	}
	return ""
}

// configValue reads a value: quotes go, a backslash takes the next byte as it is, and
// a comment ends it.
func configValue(s string) string {
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
