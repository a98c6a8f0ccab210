// This file reads front matter that is a JSON object before the text, as Hugo accepts it.

package exchange

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
)

// parseJSONFrontMatter is like [parseYAMLFrontMatter], but the front matter is a JSON object at the beginning of the
// text. It returns the keys of the object, and the size of the front matter in bytes (byteCount) and in lines
// (lineCount). All results are zero if the text does not begin with a JSON object. They are also zero if no text
// follows the object, because the object is then the content of the file.
func parseJSONFrontMatter(text string) (keys []frontMatterKey, byteCount, lineCount int) {
	first, _, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t\r") != "{" {
		return nil, 0, 0
	}
	d := json.NewDecoder(strings.NewReader(text[:min(len(text), frontmatter.MaxFrontMatterBytes)]))
	d.UseNumber()
	var values map[string]any
	if err := d.Decode(&values); err != nil {
		return nil, 0, 0
	}
	end := int(d.InputOffset())
	last, body, _ := strings.Cut(text[end:], "\n")
	if strings.TrimSpace(last) != "" || strings.TrimSpace(body) == "" {
		return nil, 0, 0
	}
	byteCount = len(text) - len(body)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		k := frontMatterKey{
			name:          name,
			normalizedKey: frontmatter.FoldKeySpelling(name),
			line:          jsonKeyLineNumber(text[:end], name),
		}
		keys = append(keys, k.flattenNode(yamlNode(values[name]))...)
	}
	return keys, byteCount, strings.Count(text[:byteCount], "\n")
}

// jsonKeyLineNumber returns the number of the line on which the key name is written in a JSON object. Lines are
// numbered from 1. It returns 1 if the key is not found, for example because it is written with escapes.
func jsonKeyLineNumber(data, name string) int {
	before, _, ok := strings.Cut(data, `"`+name+`"`)
	if !ok {
		return 1
	}
	return 1 + strings.Count(before, "\n")
}
