// This file reads Hugo's front matter, which is TOML between two lines of "+++".

package exchange

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
)

// tomlMark is the line before and after front matter in TOML.
const tomlMark = "+++"

// parseTOMLFront is like [parseFront] for front matter in TOML.
func parseTOMLFront(text string) (keys []frontKey, size, count int) {
	open, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(open, " \t\r") != tomlMark {
		return nil, 0, 0
	}
	start := len(open) + 1
	for at := start; rest != "" && at-start <= frontmatter.MaxBytes; at = len(text) - len(rest) {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if strings.TrimRight(line, " \t\r") == tomlMark {
			return tomlKeys(text[start:at]), len(text) - len(rest), strings.Count(text[:at], "\n") + 1
		}
	}
	return nil, 0, 0
}

// tomlKeys returns the keys of TOML, sorted. If it is not TOML, the only key has the error.
func tomlKeys(data string) []frontKey {
	var values map[string]any
	if err := toml.Unmarshal([]byte(data), &values); err != nil {
		return []frontKey{{line: 2, err: fmt.Errorf("the front matter is not TOML: %w", err)}}
	}
	var keys []frontKey
	for _, name := range slices.Sorted(maps.Keys(values)) {
		line := 2
		if m := regexp.MustCompile(`(?m)^\s*\[*["']?` + regexp.QuoteMeta(name)).FindStringIndex(data); m != nil {
			line += strings.Count(data[:m[0]], "\n")
		}
		k := frontKey{name: name, key: normalizeKey(name), line: line}
		keys = append(keys, k.flattenNode(yamlNode(values[name]))...)
	}
	return keys
}

// yamlNode returns a decoded value as the node that the same value in YAML has.
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
	case interface{ Format(string) string }: // time.Time
		return textNode(value.Format("2006-01-02T15:04:05Z07:00"))
	}
	return textNode(fmt.Sprint(value))
}
