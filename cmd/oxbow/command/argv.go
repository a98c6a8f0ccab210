// Command lines of other programs, such as an editor's.

package command

import "fmt"

// splitCommand cuts a command line into words: at white space outside quotes;
// a backslash takes the next character as it is, except inside single quotes.
// With literalBackslash, as paths on Windows need, it is a character like any
// other.
func splitCommand(s string, literalBackslash bool) ([]string, error) {
	var words []string
	var word []byte
	var open byte // the quote we are in
	inWord, escaped := false, false
	for i := range len(s) { // by bytes: a path may be no UTF-8
		r := s[i]
		switch {
		case escaped:
			word = append(word, r)
			escaped = false
		case r == '\\' && open != '\'' && !literalBackslash:
			escaped, inWord = true, true
		case open != 0:
			if r == open {
				open = 0
			} else {
				word = append(word, r)
			}
		case r == '\'' || r == '"':
			open, inWord = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if inWord {
				words = append(words, string(word))
				word, inWord = nil, false
			}
		default:
			word = append(word, r)
			inWord = true
		}
	}
	switch {
	case open != 0:
		return nil, fmt.Errorf("a quote %c is not closed", open)
	case escaped:
		return nil, fmt.Errorf("a backslash at the end escapes nothing")
	}
	if inWord {
		words = append(words, string(word))
	}
	if len(words) == 0 || words[0] == "" {
		return nil, fmt.Errorf("it names no command")
	}
	return words, nil
}
