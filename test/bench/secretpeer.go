// This file generates the secret rules from the rules of gitleaks, and runs gitleaks' sample generators.

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// gitleaksModule is the module version whose rules are in internal/screening/secret. The module is not in go.mod. The
// measurement downloads the module with the go command, which checks the module's hash, and runs the module as a
// separate program.
const gitleaksModule = "github.com/zricethezav/gitleaks/v8@v8.30.1"

// gitleaksRule is a rule of gitleaks, with example texts: texts in which the rule finds a secret, and
// texts in which the rule finds none.
type gitleaksRule struct {
	ID, Regex, Path string
	Entropy         float64
	Group           int
	Keywords        []string
	Allow           []gitleaksAllowList
	TP, FP          []string
}

// gitleaksAllowList is an allow list in one of gitleaks' rules. A finding that matches a condition of the list is not a
// secret. If the field And is set, the finding must match all conditions. The field Paths is the number of conditions
// about the path of the file.
type gitleaksAllowList struct {
	Target             string
	And                bool
	Paths              int
	Regexes, StopWords []string
}

// generateRuleSets runs gitleaks' generators, which make new samples in each run.
func generateRuleSets(ctx context.Context, runs int) ([][]gitleaksRule, error) {
	out, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", gitleaksModule).Output()
	var module struct{ Dir, Error string }
	err = errors.Join(err, json.Unmarshal(out, &module))
	if err != nil || module.Dir == "" {
		return nil, fmt.Errorf("downloading %s: %w %s", gitleaksModule, err, module.Error)
	}
	dir, err := os.MkdirTemp("", "gitleaks")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, os.DirFS(module.Dir)); err != nil {
		return nil, err
	}
	validate, err := os.ReadFile(filepath.Join("testdata", "gitleaks", "validate.go"))
	if err != nil {
		return nil, err
	}
	own := filepath.Join(dir, "cmd", "generate", "config", "utils", "validate.go")
	if err := errors.Join(os.Remove(own), os.WriteFile(own, validate, 0o644)); err != nil {
		return nil, err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", "generate.exe", "./cmd/generate/config")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building gitleaks' generators: %w: %s", err, out)
	}
	var all [][]gitleaksRule
	for range runs {
		rules, err := generateRules(ctx, dir)
		if err != nil {
			return nil, err
		}
		all = append(all, rules)
	}
	return all, nil
}

func generateRules(ctx context.Context, dir string) (rules []gitleaksRule, err error) {
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "generate.exe"), filepath.Join(dir, "out.toml"))
	cmd.Dir = filepath.Join(dir, "cmd", "generate", "config")
	var lines bytes.Buffer
	cmd.Stderr = &lines
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("running gitleaks' generators: %w", err)
	}
	for d := json.NewDecoder(&lines); ; {
		var r gitleaksRule
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			return rules, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading gitleaks' rules: %w", err)
		}
		rules = append(rules, r)
	}
}

// patternShortener replaces parts that many of gitleaks' regular expressions have in common by short names. A match of
// the shorter expression may begin earlier, and include more characters from the variable's name that precedes the
// secret. The secret in the match stays the same.
var patternShortener = strings.NewReplacer(
	`[\w.-]{0,50}?`, ``,
	`(?:[ \t\w.-]{0,20})[\s'"]{0,3}`, `%{name}`,
	`(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}`, `%{is}`,
	`(?:[\x60'"\s;]|\\[nr]|$)`, `%{end}`,
	// The text between curl and the secret is removed from the expression, because the secret is searched for at each
	// place after curl. A value in quotes ends at the next quote. Groups that do not contain the secret become
	// non-capturing groups.
	`\bcurl\b(?:.*?|.*?(?:[\r\n]{1,2}.*?){1,5})`, ``,
	`\bcurl\b(?:.*|.*(?:[\r\n]{1,2}.*){1,5})`, ``,
	`\"(.{8,})\"`, `"([^"\n]{8,200})"`,
	`new-york-times,|`, `new-york-times|`,
	`([a-z0-9]{4}-){3}`, `(?:[a-z0-9]{4}-){3}`,
)

// allowPatternReplacer changes the regular expressions by which gitleaks recognizes a text as harmless. It removes an
// expression's prefix that matches any text. It also restricts an expression with words that are no passwords, such as
// token. Such a word must be the whole value and not only a part of the value.
var allowPatternReplacer = strings.NewReplacer(`[a-z0-9-]*?api`, `api`, `|token|\*+|x+)`, `|token|\*+|x+)['"]?$`)

var namedGroupPattern = regexp.MustCompile(`\(\?P<\w+>`)

// replacementKeywords replaces the keywords of some gitleaks rules. Their original keywords are names of services,
// which may be far from the secret.
var replacementKeywords = map[string][]string{
	"airtable-personnal-access-token": {"pat"},
	"cloudflare-origin-ca-key":        {"v1.0-"},
	"intra42-client-secret":           {"s-s4t2ud-", "s-s4t2af-"},
	"kubernetes-secret-yaml":          {"kind:"},
}

// keywordDistances contains the gitleaks rules that match only near their keyword. The value is the maximum distance
// of the match before and after the keyword, in bytes.
var keywordDistances = map[string]string{
	"facebook-access-token":    "1200..8192",
	"sourcegraph-access-token": "1200..8192",
	"curl-auth-header":         "0..1500",
	"curl-auth-user":           "0..1500",
}

// writeRules writes rules in the format of internal/screening/secret.
func writeRules(w io.Writer, rules []gitleaksRule) error {
	var b strings.Builder
	b.WriteString("# The rules of gitleaks (" + gitleaksModule +
		"), made by: cd test/bench && go run . secrets --rules\n# See LICENSE.gitleaks. The format is described in " +
		"compile_test.go.\n")
	slices.SortFunc(rules, func(a, b gitleaksRule) int { return strings.Compare(a.ID, b.ID) })
	for _, r := range rules {
		if r.Regex == "" {
			continue // Leave out a rule without a regular expression, because it is about the name of a file.
		}
		if own := replacementKeywords[r.ID]; own != nil {
			r.Keywords = own
		}
		// Some expressions match either a name followed by a secret, or a token that is recognizable without a name.
		// Make two rules of such an expression.
		short := namedGroupPattern.ReplaceAllString(patternShortener.Replace(r.Regex), "(?:")
		first, second, two := strings.Cut(short, `%{end}|\b`)
		if two {
			token := slices.DeleteFunc(slices.Clone(r.Keywords), func(k string) bool {
				return !strings.Contains(strings.ToLower(second), strings.ToLower(k))
			})
			names := slices.DeleteFunc(slices.Clone(r.Keywords), func(k string) bool {
				return slices.Contains(token, k)
			})
			short, second = first+`%{end}`, `\b`+second
			writeRule(&b, r, names, short)
			writeRule(&b, r, token, second)
			continue
		}
		writeRule(&b, r, r.Keywords, short)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeRule(b *strings.Builder, r gitleaksRule, keywords []string, shortRegexp string) {
	for i := range keywords {
		keywords[i] = strings.ReplaceAll(strings.ToLower(keywords[i]), " ", "%20")
	}
	place, ok := keywordDistances[r.ID]
	if !ok {
		place = keywordOffset(shortRegexp, keywords)
	}
	fmt.Fprintf(
		b,
		"%s\t%s\t%g\t%d\t%s\t%s\n",
		r.ID,
		place,
		r.Entropy,
		r.Group,
		strings.Join(keywords, " "),
		shortRegexp,
	)
	for _, a := range r.Allow {
		if a.Paths > 0 {
			continue
		}
		for _, re := range a.Regexes {
			target := cmp.Or(a.Target, "secret")
			if slices.Contains(lettersOnlyPatterns, re) {
				target = "word"
			}
			fmt.Fprintf(b, "\t%s\t%s\n", target, allowPatternReplacer.Replace(re))
		}
	}
}

// lettersOnlyPatterns contains regular expressions with which gitleaks allows values without digits as harmless. A
// random value may lack digits, so these expressions are applied only to values that consist of words.
var lettersOnlyPatterns = []string{`^[a-zA-Z_.-]+$`, `s\.[A-Za-z]{24}`}

// maxBytesBeforeKeyword is a limit for some regular expressions of gitleaks. A rule is tried only at its keywords. Some
// expressions match any number of bytes in front of the keyword. For such an expression, only maxBytesBeforeKeyword
// bytes in front of the keyword are searched.
const maxBytesBeforeKeyword = 512

// keywordOffset returns where a match of the regular expression shortRegexp has one of the keywords. The result is one
// of these texts:
//
//   - "0" if each match begins with a keyword
//   - "=" if each match begins with a keyword, and shortRegexp contains the placeholder %{is} for an assignment
//   - the maximum number of bytes before the keyword, as a decimal number, in all other cases
//   - the text of the error, if shortRegexp is invalid
func keywordOffset(shortRegexp string, keywords []string) string {
	re, err := syntax.Parse(
		strings.NewReplacer("%{end}", "", "%{name}", ".{0,24}", "%{is}", ".{1,12}").Replace(shortRegexp),
		syntax.Perl,
	)
	if err != nil {
		return err.Error()
	}
	prog, err := syntax.Compile(re.Simplify())
	switch {
	case err != nil:
		return err.Error()
	case !beginsWithKeyword(prog, prog.Start, "", keywords):
		return strconv.Itoa(min(longestMatchLength(re), maxBytesBeforeKeyword))
	case strings.Contains(shortRegexp, "%{is}"):
		return "="
	}
	return "0"
}

// beginsWithKeyword reports whether every text that a regular expression matches begins with one of the keywords. p is
// the compiled expression, and pc is the number of the instruction in p with which the search continues. textSoFar is
// the text that the earlier instructions have matched. Letter case is ignored.
func beginsWithKeyword(p *syntax.Prog, pc int, textSoFar string, keywords []string) bool {
	if slices.ContainsFunc(keywords, func(k string) bool { return strings.HasPrefix(textSoFar, k) }) {
		return true
	}
	if !slices.ContainsFunc(keywords, func(k string) bool { return strings.HasPrefix(k, textSoFar) }) {
		return false
	}
	switch in := p.Inst[pc]; in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		return beginsWithKeyword(p, int(in.Out), textSoFar, keywords) &&
			beginsWithKeyword(p, int(in.Arg), textSoFar, keywords)
	case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
		return beginsWithKeyword(p, int(in.Out), textSoFar, keywords)
	case syntax.InstRune, syntax.InstRune1:
		for c := rune(0); c < 0x80; c++ {
			lower := unicode.ToLower(c)
			isTriedAsLower := c != lower && in.MatchRune(lower)
			if isTriedAsLower || !in.MatchRune(c) {
				continue
			}
			if !beginsWithKeyword(p, int(in.Out), textSoFar+string(lower), keywords) {
				return false
			}
		}
		return true
	}
	return false
}

// longestMatchLength returns the length of the longest text that re matches, in runes. If the length is not limited,
// the result is at least maxBytesBeforeKeyword.
func longestMatchLength(re *syntax.Regexp) int {
	n, most := 0, 0
	for _, s := range re.Sub {
		m := longestMatchLength(s)
		n, most = n+m, max(most, m)
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpAlternate:
		return most
	case syntax.OpStar, syntax.OpPlus:
		return maxBytesBeforeKeyword
	case syntax.OpRepeat:
		if re.Max < 0 {
			return maxBytesBeforeKeyword
		}
		return n * re.Max
	}
	return n
}
