// This file highlights the code blocks in a Markdown text.

package page

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	g "maragu.dev/gomponents"

	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// Code of more than maxHighlightedBytes bytes is not highlighted, so that the page stays small.
const maxHighlightedBytes = 16_000

// These are the classes of the spans in highlighted code. The style sheet defines their colours.
const (
	commentSpanClass = "hc"
	keywordSpanClass = "hk"
	numberSpanClass  = "hn"
	stringSpanClass  = "hs"
)

// language describes how comments, strings and keywords are written in a programming language.
type language struct {
	lineComments            []string
	blockComment            [2]string // beginning and end of a block comment ("" for a language without block comments)
	strings                 []stringForm
	keywords                map[string]bool
	isCaseInsensitive       bool // the language's keywords may be written with capital letters
	commentNeedsSpaceBefore bool // A line comment begins only at the start of a line or after a space.
}

// stringForm describes one form of string literals.
type stringForm struct {
	open, close string
	isRaw       bool // a backslash in the string does not escape the next character
	isMultiline bool
	// The literal contains one character or one escape. Otherwise it is not a literal: in Rust, a single quote also
	// begins the name of a lifetime.
	isCharacter bool
}

var (
	doubleQuotedString = stringForm{open: `"`, close: `"`}
	singleQuotedString = stringForm{open: `'`, close: `'`}
	characterLiteral   = stringForm{open: `'`, close: `'`, isCharacter: true}
	backQuotedString   = stringForm{open: "`", close: "`", isMultiline: true}
)

// wordSet returns the words in a text as a set.
func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// cLikeLanguage returns a language with the same comments as C.
func cLikeLanguage(keywords string, forms ...stringForm) *language {
	return &language{lineComments: []string{"//"}, blockComment: [2]string{"/*", "*/"}, strings: forms,
		keywords: wordSet(keywords)}
}

// languages maps the name of a programming language, as written at the beginning of a code block, to its description.
// It is built at the first use.
var languages = sync.OnceValue(func() map[string]*language {
	golang := cLikeLanguage(
		"break case chan const continue default defer else fallthrough for func go goto if import "+
			"interface map package range return select struct switch type var nil true false",
		stringForm{open: "`", close: "`", isRaw: true, isMultiline: true},
		doubleQuotedString,
		characterLiteral,
	)
	script := cLikeLanguage(
		"async await break case catch class const continue default delete do else enum export extends "+
			"false finally for from function if implements import in instanceof interface let new null of private "+
			"public readonly return static super switch this throw true try type typeof undefined var void while yield",
		doubleQuotedString,
		singleQuotedString,
		backQuotedString,
	)
	rust := cLikeLanguage(
		"as async await break const continue crate dyn else enum extern false fn for if impl in let loop "+
			"match mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
		doubleQuotedString,
		characterLiteral,
	)
	java := cLikeLanguage(
		"abstract auto bool boolean break case catch char class const continue default delete do double "+
			"else enum extends extern false final finally float for goto if implements import include instanceof int "+
			"interface long namespace new null nullptr operator override package private protected public return "+
			"short signed sizeof static struct super switch template this throw throws true try typedef typename union "+
			"unsigned using virtual void volatile while",
		doubleQuotedString,
		characterLiteral,
	)
	python := &language{lineComments: []string{"#"},
		strings: []stringForm{{open: `"""`, close: `"""`, isMultiline: true},
			{open: `'''`, close: `'''`, isMultiline: true}, doubleQuotedString, singleQuotedString},
		keywords: wordSet("and as assert async await break class continue def del elif else except False finally " +
			"for from global if import in is lambda None nonlocal not or pass raise return self True try while " +
			"with yield")}
	shell := &language{lineComments: []string{"#"}, commentNeedsSpaceBefore: true,
		strings: []stringForm{{open: `"`, close: `"`, isMultiline: true},
			{open: `'`, close: `'`, isRaw: true, isMultiline: true}},
		keywords: wordSet("case do done elif else esac exit export fi for function if in local return set then " +
			"until while")}
	sql := &language{lineComments: []string{"--"}, blockComment: [2]string{"/*", "*/"}, isCaseInsensitive: true,
		strings: []stringForm{{open: `'`, close: `'`, isRaw: true, isMultiline: true}, doubleQuotedString},
		keywords: wordSet("add all alter and as asc begin between by case check column commit constraint create " +
			"cross default delete desc distinct drop else end exclude exists false foreign from full group having " +
			"if in index inner insert into is join key left like limit not null offset on or order outer primary " +
			"references returning right rollback select set table then true union unique update using values view " +
			"when where with")}
	data := &language{
		lineComments:            []string{"#"},
		commentNeedsSpaceBefore: true,
		strings:                 []stringForm{doubleQuotedString, singleQuotedString},
		keywords:                wordSet("true false null"),
	}
	json := &language{lineComments: []string{"//"}, blockComment: [2]string{"/*", "*/"},
		strings: []stringForm{doubleQuotedString}, keywords: wordSet("true false null")}
	all := map[string]*language{}
	for names, l := range map[string]*language{"go golang": golang, "js javascript jsx ts typescript tsx": script,
		"rust rs": rust, "java c cpp c++ cs csharp": java, "python py": python, "sh bash shell zsh": shell, "sql": sql,
		"yaml yml toml": data, "json jsonc": json} {
		for name := range wordSet(names) {
			all[name] = l
		}
	}
	return all
})

// highlightCode shows code with its comments, strings, keywords and numbers in spans. The spans are omitted if the
// language is unknown or the code is long.
func highlightCode(code, languageName string) g.Node {
	l := languages()[strings.ToLower(languageName)]
	code = VisibleText(code)
	if l == nil || len(code) > maxHighlightedBytes {
		return h.Text(code)
	}
	var out g.Group
	plain := 0 // offset of the first byte in code that was not yet appended to out
	for at := 0; at < len(code); {
		class, end := l.nextToken(code, at)
		if class != "" {
			out = append(out, h.Text(code[plain:at]), h.Span(h.Class(class), h.Text(code[at:end])))
			plain = end
		}
		at = end
	}
	return append(out, h.Text(code[plain:]))
}

// nextToken finds the token that begins at the offset at in the code. It returns the CSS class for the token, or "" if
// the token is not highlighted, and the offset at which the token ends.
func (l *language) nextToken(code string, at int) (class string, end int) {
	if end := l.findCommentEnd(code, at); end > 0 {
		return commentSpanClass, end
	}
	for _, f := range l.strings {
		switch end, isClosed := f.findStringEnd(code, at); {
		case isClosed:
			return stringSpanClass, end
		case end > 0:
			return "", end
		}
	}
	first, size := utf8.DecodeRuneInString(code[at:])
	if !isIdentifierRune(first) {
		return "", at + size
	}
	end = len(code)
	if n := strings.IndexFunc(code[at:], func(r rune) bool { return !isIdentifierRune(r) }); n >= 0 {
		end = at + n
	}
	word := code[at:end]
	isShortWord := len(word) <= 2 && !unicode.IsDigit(first)
	if isShortWord && strings.HasPrefix(code[end:], `"`) {
		return "", end // The word is a prefix of the string literal that follows, as in r"text".
	}
	if l.isCaseInsensitive {
		word = strings.ToLower(word)
	}
	switch {
	case l.keywords[word]:
		return keywordSpanClass, end
	case unicode.IsDigit(first):
		return numberSpanClass, end
	}
	if strings.HasPrefix(code[end:], "'") && !isShortWord {
		end++ // Skip the quote. After a word it is an apostrophe, which does not begin a string.
	}
	return "", end
}

// findCommentEnd returns the end of the comment that begins at an offset, or 0 if no comment begins there.
func (l *language) findCommentEnd(code string, offset int) int {
	for _, c := range l.lineComments {
		isBegin := offset == 0 || !l.commentNeedsSpaceBefore || strings.ContainsRune(" \t\n", rune(code[offset-1]))
		if strings.HasPrefix(code[offset:], c) && isBegin {
			return findLineEnd(code, offset)
		}
	}
	if begin := l.blockComment[0]; begin != "" && strings.HasPrefix(code[offset:], begin) {
		if n := strings.Index(code[offset+len(begin):], l.blockComment[1]); n >= 0 {
			return offset + len(begin) + n + len(l.blockComment[1])
		}
		return len(code)
	}
	return 0
}

// findStringEnd returns the offset at which the string literal ends that begins at the given offset. The result is 0 if
// no literal of the form f begins there.
//
// If the closing quote is missing, isClosed is false. The literal then ends at the end of the line or, if f.isMultiline
// is set, at the end of the code. If f.isCharacter is set, a quote begins a literal only if a backslash follows, or one
// character and the closing quote.
func (f stringForm) findStringEnd(code string, offset int) (end int, isClosed bool) {
	if !strings.HasPrefix(code[offset:], f.open) {
		return 0, false
	}
	begin := offset + len(f.open)
	limit := len(code)
	if !f.isMultiline {
		limit = findLineEnd(code, offset)
	}
	if f.isCharacter && !strings.HasPrefix(code[begin:], `\`) {
		_, size := utf8.DecodeRuneInString(code[begin:])
		limit = min(limit, begin+size+len(f.close))
		if !strings.HasSuffix(code[begin:limit], f.close) {
			return 0, false
		}
	}
	for i := begin; i < limit; i++ {
		if strings.HasPrefix(code[i:limit], f.close) {
			return i + len(f.close), true
		}
		if code[i] == '\\' && !f.isRaw {
			i++
		}
	}
	return limit, false
}

func findLineEnd(code string, at int) int {
	if n := strings.IndexByte(code[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(code)
}

func isIdentifierRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
