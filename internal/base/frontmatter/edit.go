// This file edits front matter. It preserves unknown keys, comments, blank lines and the style of
// unchanged values byte for byte.

package frontmatter

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// lineRange is a range of lines, counted from 0. It includes the line with the number start and excludes the line with
// the number end.
type lineRange struct{ start, end int }

// EditKeys changes the values of some keys in YAML front matter, and returns the changed text. The parameter
// frontMatter is the text without the lines "---". Its lines end with lineEnd. The parameter mapping is the YAML node
// that results from parsing frontMatter.
//
// For each key in orderedKeys, EditKeys calls renderKey with the key and the node of its present value. The node is nil
// if the key does not exist. If renderKey returns a text and true, the text replaces the lines of the key. An empty
// text removes the key. If renderKey returns false, the key is not changed. A new key is inserted after the existing
// keys that precede it in orderedKeys.
func EditKeys(
	frontMatter, lineEnd string,
	mapping *yaml.Node,
	orderedKeys []string,
	renderKey func(key string, old *yaml.Node) (text string, ok bool),
) string {
	var lines []string
	for l := range strings.Lines(frontMatter) {
		lines = append(lines, l)
	}
	if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
		lines[n-1] += lineEnd
	}
	spans, values := locateKeys(mapping, lines)
	insertions := make([]string, len(lines)+1) // text to insert before each line
	isRemoved := make([]bool, len(lines))
	lastEnd := 0 // line after the keys that were processed so far, where a new key is inserted
	for _, k := range orderedKeys {
		at, exists := spans[k]
		text, ok := renderKey(k, values[k])
		text = strings.ReplaceAll(text, "\n", lineEnd)
		switch {
		case ok && exists:
			for i := at.start; i < at.end; i++ {
				isRemoved[i] = true
			}
			insertions[at.start] += text
		case ok:
			insertions[lastEnd] += text
		}
		lastEnd = max(lastEnd, at.end)
	}
	var b strings.Builder
	for i, text := range insertions {
		b.WriteString(text)
		if i < len(lines) && !isRemoved[i] {
			b.WriteString(lines[i])
		}
	}
	return b.String()
}

// locateKeys returns the lines and the value of each key in the mapping. If a key occurs several times, the first
// occurrence counts.
func locateKeys(mapping *yaml.Node, lines []string) (map[string]lineRange, map[string]*yaml.Node) {
	spans, values := map[string]lineRange{}, map[string]*yaml.Node{}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		k, v := mapping.Content[i], mapping.Content[i+1]
		end := len(lines)
		if i+2 < len(mapping.Content) {
			end = mapping.Content[i+2].Line - 1
		}
		if v.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
			// Comments and empty lines before the next YAML key belong to the next key.
			for end > k.Line && isBlankOrComment(lines[end-1]) {
				end--
			}
		}
		if _, isDuplicate := spans[k.Value]; !isDuplicate {
			spans[k.Value], values[k.Value] = lineRange{k.Line - 1, end}, v
		}
	}
	return spans, values
}

func isBlankOrComment(line string) bool {
	s := strings.TrimSpace(line)
	return s == "" || s[0] == '#'
}
