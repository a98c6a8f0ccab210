// This file reads front matter in TOML between two lines of "+++", as Hugo writes it.

package exchange

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
)

// tomlFrontMark is the line before and after front matter in TOML.
const tomlFrontMark = "+++"

// parseTOMLFrontMatter parses the TOML front matter at the start of a text. It returns the keys in the front matter,
// the number of its bytes (byteCount) and the number of its lines (lineCount). If the text has no front matter, all
// results are zero. If the front matter is not valid TOML, byteCount and lineCount are 0, and the first key contains
// the error.
func parseTOMLFrontMatter(text string) (keys []frontMatterKey, byteCount, lineCount int) {
	open, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(open, " \t\r") != tomlFrontMark {
		return nil, 0, 0
	}
	start := len(open) + 1
	for at := start; rest != "" && at-start <= frontmatter.MaxFrontMatterBytes; at = len(text) - len(rest) {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if strings.TrimRight(line, " \t\r") == tomlFrontMark {
			keys := tomlKeys(text[start:at])
			if len(keys) > 0 && keys[0].err != nil {
				return keys, 0, 0 // Leave the front matter in the text, because the text is not TOML.
			}
			return append(keys, tomlCommentKeys(text[start:at])...), len(text) - len(rest),
				strings.Count(text[:at], "\n") + 1
		}
	}
	return nil, 0, 0
}

// tomlKeys returns the keys in a text in TOML, sorted. If the text is not TOML, it returns a single key with the
// error.
func tomlKeys(data string) []frontMatterKey {
	var values map[string]any
	if err := toml.Unmarshal([]byte(data), &values); err != nil {
		return []frontMatterKey{{line: 2, err: fmt.Errorf("not TOML: %w", err)}}
	}
	var keys []frontMatterKey
	for _, name := range slices.Sorted(maps.Keys(values)) {
		line := 2
		if m := regexp.MustCompile(`(?m)^\s*\[*["']?` + regexp.QuoteMeta(name)).FindStringIndex(data); m != nil {
			line += strings.Count(data[:m[0]], "\n")
		}
		k := frontMatterKey{name: name, normalizedKey: frontmatter.FoldKeySpelling(name), line: line}
		keys = append(keys, k.flattenNode(yamlNode(values[name]))...)
	}
	return keys
}

// tomlStringPattern matches a string on a single line, a comment, or the quotes of a string with several lines.
var tomlStringPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\"\"\"|'''|\"(?:[^\"\\\\]|\\\\.)*\"|'[^']*'|#.*")
})

// tomlCommentKeys returns the comments in the TOML front matter data. Each comment is returned as a frontMatterKey
// without a name, whose field rawLines contains the comment. Therefore the caller can treat comments like other lines
// that it cannot interpret.
func tomlCommentKeys(data string) (commentKeys []frontMatterKey) {
	// open contains the quotes that will close the current multi-line string (""" or '''), or "" outside of such a
	// string.
	line, open := 2, ""
	for l := range strings.Lines(data) {
		for _, m := range tomlStringPattern().FindAllString(strings.TrimRight(l, " \t\r\n"), -1) {
			switch {
			case open != "":
				if m == open {
					open = ""
				}
			case m == `"""` || m == "'''":
				open = m
			case m[0] == '#':
				commentKeys = append(commentKeys, frontMatterKey{line: line, rawLines: m})
			}
		}
		line++
	}
	return commentKeys
}

// yamlNode returns the YAML node of a value that was decoded from TOML or JSON.
func yamlNode(value any) *yaml.Node {
	switch value := value.(type) {
	case map[string]any:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			n.Content = append(n.Content, textNode(key), yamlNode(value[key]))
		}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range value {
			n.Content = append(n.Content, yamlNode(item))
		}
		return n
	case string:
		return textNode(value)
	case nil: // Only JSON has null values.
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	case interface{ Format(string) string }: // This is a time.Time or a local time of TOML.
		return textNode(value.Format(time.RFC3339Nano))
	}
	return textNode(fmt.Sprint(value))
}
