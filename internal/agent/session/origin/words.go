// This file computes the possible values of the words in a command line.

package origin

import (
	"os"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxValuesPerWord is the maximum number of possible values for a word. A word with more values counts as unknown.
const maxValuesPerWord = 64

// valuesOfUnknownWord is the result for a word whose value is not known.
var valuesOfUnknownWord = []string{unknownWordValue}

// limitWordValues returns the values, or valuesOfUnknownWord if there are more than maxValuesPerWord.
func limitWordValues(values []string) []string {
	if len(values) > maxValuesPerWord {
		return valuesOfUnknownWord
	}
	return values
}

// expandBraces returns the words that the braces in a word expand to. The values of a sequence such as {1..9} are not
// computed and count as unknown.
func expandBraces(w *syntax.Word) []*syntax.Word {
	words := []*syntax.Word{{}}
	syntax.SplitBraces(w)
	for _, p := range w.Parts {
		ends := []*syntax.Word{{Parts: []syntax.WordPart{p}}}
		if b, ok := p.(*syntax.BraceExp); ok {
			ends = listBraceWords(b)
		}
		if len(words)*len(ends) > maxValuesPerWord {
			return []*syntax.Word{unknownSyntaxWord()}
		}
		var next []*syntax.Word
		for _, front := range words {
			for _, end := range ends {
				next = append(next, &syntax.Word{Parts: slices.Concat(front.Parts, end.Parts)})
			}
		}
		words = next
	}
	return words
}

// listBraceWords returns the words to which the shell expands the brace expression b. Nested braces are expanded too.
// If b is a sequence such as {1..9}, the result is a single word with an unknown value.
func listBraceWords(b *syntax.BraceExp) (all []*syntax.Word) {
	if b.Sequence {
		return []*syntax.Word{unknownSyntaxWord()}
	}
	for _, e := range b.Elems {
		all = append(all, expandBraces(e)...)
	}
	return all
}

// unknownSyntaxWord returns a word whose value is unknown: a variable that no command line can set.
func unknownSyntaxWord() *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.ParamExp{Param: &syntax.Lit{Value: "not known"}}}}
}

// wordValues returns the possible values of a word in a shell line. If a value is not known, unknownWordValue is
// returned for it. If the word contains commands, as in $(cmd), the commands are judged too: s.verdict records how
// trusted their output is.
func (s *shellState) wordValues(w *syntax.Word) []string {
	values := s.joinPartValues(w.Parts)
	for i, v := range values {
		switch {
		case strings.Contains(v, unknownWordValue):
			values[i] = unknownWordValue
		case v == "~" || strings.HasPrefix(v, "~/"):
			values[i] = s.homeDir() + v[1:]
		}
	}
	return values
}

// joinPartValues returns the possible values of a shell word that consists of the parts ps. A part such as a variable
// can have several values. The result contains each combination of the parts' values, but limitWordValues limits how
// many combinations there are.
func (s *shellState) joinPartValues(ps []syntax.WordPart) []string {
	values := []string{""}
	for _, p := range ps {
		var next []string
		for _, v := range s.expandWordPart(p) {
			for _, front := range values {
				next = append(next, front+v)
			}
		}
		values = slices.Clone(limitWordValues(next))
	}
	return values
}

// expandWordPart returns the possible values of one part of a shell word. If the values are not known, it returns
// valuesOfUnknownWord. If the part contains commands, as in $(cmd), the commands are judged too.
func (s *shellState) expandWordPart(p syntax.WordPart) []string {
	switch p := p.(type) {
	case *syntax.Lit:
		return []string{removeBackslashes(p.Value)}
	case *syntax.SglQuoted:
		if p.Dollar && strings.Contains(p.Value, `\`) {
			return valuesOfUnknownWord
		}
		return []string{p.Value}
	case *syntax.DblQuoted:
		return s.joinPartValues(p.Parts)
	case *syntax.ParamExp:
		s.judgeNestedCommandsTrust(p)
		if isPlainVariable(p) {
			return s.variableValues(p.Param.Value)
		}
	case *syntax.CmdSubst:
		s.judgeSubshellTrust(p.Stmts)
	case *syntax.ProcSubst:
		s.judgeSubshellTrust(p.Stmts)
		// judgeSubshellTrust has judged the commands in the process substitution, so their text is already taken into
		// account. Return the empty file os.DevNull as the value of the word, so that the text is not judged again.
		return []string{os.DevNull}
	default:
		s.judgeNestedCommandsTrust(p)
	}
	return valuesOfUnknownWord
}

// isPlainVariable reports whether an expansion has the unchanged value of a variable, as in ${NAME}.
func isPlainVariable(p *syntax.ParamExp) bool {
	isChanged := p.Excl || p.Length || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Exp != nil ||
		p.Names != 0
	return p.Param != nil && !isChanged
}

// variableValues returns the possible values of a shell variable. If the values are not known, it returns
// valuesOfUnknownWord.
func (s *shellState) variableValues(name string) []string {
	if v, ok := s.assignedVariables[name]; ok {
		if len(v) == 0 {
			return []string{""}
		}
		return v
	}
	switch name {
	case "PWD":
		if s.currentDir != "" {
			return []string{s.currentDir}
		}
	case "HOME":
		return []string{s.homeDir()}
	case "TMPDIR":
		return []string{os.TempDir()}
	case "?", "#", "$", "!", "RANDOM", "SECONDS", "LINENO":
		return []string{"0"}
	}
	return valuesOfUnknownWord
}

// removeBackslashes returns the text s as a shell reads it: each backslash that escapes a character is removed, and a
// backslash before a line end is removed together with the line end.
func removeBackslashes(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
