// The config of a repository, read without git: what is looked up on every run.

package git

import (
	"path/filepath"
	"strings"
)

// RemoteURL returns the first address of a remote, "" for none. What rewrites addresses
// is not read.
func (r *Repo) RemoteURL(remote string) string { return r.Config("remote", remote, "url") }

// Config returns the first value of a key of a section with a name, as in
// remote.origin.url, as the repository's own config has it; "" for none. Files that the
// config includes are not read.
func (r *Repo) Config(section, name, wanted string) string {
	b, err := readSmall(filepath.Join(r.common, "config"))
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
		if within && ok && strings.EqualFold(strings.TrimSpace(key), wanted) {
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
