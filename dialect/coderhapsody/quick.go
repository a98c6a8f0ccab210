// This file recognises front matter in the plain form that this package writes
// it in, which is most of what there is: the YAML reader takes ten times as long.

package coderhapsody

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow/profile"
)

// quickMapping returns what [profile.FrontMatter] does of the same data, without
// columns and remarks, or nil when the data is not of the plain form: lines of a
// known key, ": ", and a bare word, a number, a time, or bare words in brackets.
func quickMapping(data string) *yaml.Node {
	if len(data) > profile.MaxFile {
		return nil
	}
	top := &yaml.Node{Kind: yaml.MappingNode}
	scalar := func(s string, line int) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Line: line}
	}
	n := 0
	for line := range strings.SplitSeq(strings.TrimSuffix(data, "\n"), "\n") {
		n++
		key, value, ok := strings.Cut(line, ": ")
		if !ok || !slices.Contains(keys, key) {
			return nil
		}
		var v *yaml.Node
		list, isList := strings.CutPrefix(value, "[")
		switch {
		case isList:
			list, ok = strings.CutSuffix(list, "]")
			words := strings.Split(list, ", ")
			if !ok || len(words) > 1000 {
				return nil
			}
			v = &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Line: n, Content: make([]*yaml.Node, len(words))}
			for i, w := range words {
				if !isBare(w) {
					return nil
				}
				v.Content[i] = scalar(w, n)
			}
		case isBare(value), value == "true", value == "false", isNumeric(value):
			v = scalar(value, n)
		default:
			return nil
		}
		top.Content = append(top.Content, scalar(key, n), v)
	}
	return top
}

// isNumeric reports whether a value is made as numbers and times are, and so
// means itself.
func isNumeric(s string) bool {
	if s == "" || s[0] < '0' || s[0] > '9' || s[len(s)-1] == ':' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && strings.IndexByte(".:-TZ+", c) < 0 {
			return false
		}
	}
	return true
}
