// The rules of gitleaks, and the samples that its generators make of them.

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

// gitleaks is the version whose rules are in internal/screening/secret. It is in no go.mod:
// its module is downloaded, which checks its sum, and runs as a program of its own.
const gitleaks = "github.com/zricethezav/gitleaks/v8@v8.30.1"

// peerRule is a rule of gitleaks, and texts that it finds or leaves alone.
type peerRule struct {
	ID, Regex, Path string
	Entropy         float64
	Group           int
	Keywords        []string
	Allow           []peerAllow
	TP, FP          []string
}

// peerAllow is a list of what a rule allows: all of it where And is set, and where
// a path says so.
type peerAllow struct {
	Target             string
	And                bool
	Paths              int
	Regexes, StopWords []string
}

// peerRules runs gitleaks' generators, which make new samples each time.
func peerRules(ctx context.Context, runs int) ([][]peerRule, error) {
	out, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", gitleaks).Output()
	var module struct{ Dir, Error string }
	if jerr := json.Unmarshal(out, &module); err != nil || jerr != nil || module.Dir == "" {
		return nil, fmt.Errorf("downloading %s: %w %s", gitleaks, errors.Join(err, jerr), module.Error)
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
	var all [][]peerRule
	for range runs {
		rules, err := generated(ctx, dir)
		if err != nil {
			return nil, err
		}
		all = append(all, rules)
	}
	return all, nil
}

func generated(ctx context.Context, dir string) (rules []peerRule, err error) {
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "generate.exe"), filepath.Join(dir, "out.toml"))
	cmd.Dir = filepath.Join(dir, "cmd", "generate", "config")
	var lines bytes.Buffer
	cmd.Stderr = &lines
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("running gitleaks' generators: %w", err)
	}
	for d := json.NewDecoder(&lines); ; {
		var r peerRule
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			return rules, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading gitleaks' rules: %w", err)
		}
		rules = append(rules, r)
	}
}

// shorter are the parts that the regular expressions of gitleaks share. That they
// may begin with more of a name says nothing about where a secret is.
var shorter = strings.NewReplacer(
	`[\w.-]{0,50}?`, ``,
	`(?:[ \t\w.-]{0,20})[\s'"]{0,3}`, `%{name}`,
	`(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}`, `%{is}`,
	`(?:[\x60'"\s;]|\\[nr]|$)`, `%{end}`,
	// What follows curl is looked for from each place after it, a value in quotes up
	// to the next one, and a group that is no secret is none.
	`\bcurl\b(?:.*?|.*?(?:[\r\n]{1,2}.*?){1,5})`, ``,
	`\bcurl\b(?:.*|.*(?:[\r\n]{1,2}.*){1,5})`, ``,
	`\"(.{8,})\"`, `"([^"\n]{8,200})"`,
	`new-york-times,|`, `new-york-times|`,
	`([a-z0-9]{4}-){3}`, `(?:[a-z0-9]{4}-){3}`,
)

// allowed changes what is allowed: a beginning that may be anything is none, and a
// word that stands for a password is all of it.
var allowed = strings.NewReplacer(`[a-z0-9-]*?api`, `api`, `|token|\*+|x+)`, `|token|\*+|x+)['"]?$`)

var namedGroup = regexp.MustCompile(`\(\?P<\w+>`)

// ownKeywords are keywords in the place of those that are names of a service, and
// may be far from the secret.
var ownKeywords = map[string][]string{
	"airtable-personnal-access-token": {"pat"},
	"cloudflare-origin-ca-key":        {"v1.0-"},
	"intra42-client-secret":           {"s-s4t2ud-", "s-s4t2af-"},
	"kubernetes-secret-yaml":          {"kind:"},
}

// apart are rules whose match is near the keyword, and how far before and after it.
var apart = map[string]string{"facebook-access-token": "1200..8192", "sourcegraph-access-token": "1200..8192",
	"curl-auth-header": "0..1500", "curl-auth-user": "0..1500"}

// writeRules writes rules in the format of internal/screening/secret.
func writeRules(w io.Writer, rules []peerRule) error {
	var b strings.Builder
	b.WriteString("# The rules of gitleaks (" + gitleaks +
		"), made by: cd test/bench && go run . secrets --rules\n# See LICENSE.gitleaks. The format is described in " +
		"compile_test.go.\n")
	slices.SortFunc(rules, func(a, b peerRule) int { return strings.Compare(a.ID, b.ID) })
	for _, r := range rules {
		if r.Regex == "" {
			continue // the name of a file
		}
		if own := ownKeywords[r.ID]; own != nil {
			r.Keywords = own
		}
		// One expression for a name and one for a token is two rules.
		short := namedGroup.ReplaceAllString(shorter.Replace(r.Regex), "(?:")
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

func writeRule(b *strings.Builder, r peerRule, keywords []string, short string) {
	for i := range keywords {
		keywords[i] = strings.ReplaceAll(strings.ToLower(keywords[i]), " ", "%20")
	}
	place, ok := apart[r.ID]
	if !ok {
		place = placeOf(short, keywords)
	}
	fmt.Fprintf(b, "%s\t%s\t%g\t%d\t%s\t%s\n", r.ID, place, r.Entropy, r.Group, strings.Join(keywords, " "), short)
	for _, a := range r.Allow {
		if a.Paths > 0 {
			continue
		}
		for _, re := range a.Regexes {
			target := cmp.Or(a.Target, "secret")
			if slices.Contains(lettersAlone, re) {
				target = "word"
			}
			fmt.Fprintf(b, "\t%s\t%s\n", target, allowed.Replace(re))
		}
	}
}

// lettersAlone are what gitleaks allows because it has no digits, as random values may.
var lettersAlone = []string{`^[a-zA-Z_.-]+$`, `s\.[A-Za-z]{24}`}

// farBefore is how far from a keyword matches without a longest one may begin.
const farBefore = 512

// placeOf returns where matches begin: how many bytes before a keyword at most, or =
// with it and before what assigns.
func placeOf(short string, keywords []string) string {
	re, err := syntax.Parse(
		strings.NewReplacer("%{end}", "", "%{name}", ".{0,24}", "%{is}", ".{1,12}").Replace(short),
		syntax.Perl,
	)
	if err != nil {
		return err.Error()
	}
	prog, err := syntax.Compile(re.Simplify())
	switch {
	case err != nil:
		return err.Error()
	case !beginsWith(prog, prog.Start, "", keywords):
		return strconv.Itoa(min(longestMatch(re), farBefore))
	case strings.Contains(short, "%{is}"):
		return "="
	}
	return "0"
}

// beginsWith reports whether each way through a program begins with a keyword.
func beginsWith(p *syntax.Prog, pc int, begun string, keywords []string) bool {
	if slices.ContainsFunc(keywords, func(k string) bool { return strings.HasPrefix(begun, k) }) {
		return true
	}
	if !slices.ContainsFunc(keywords, func(k string) bool { return strings.HasPrefix(k, begun) }) {
		return false
	}
	switch in := p.Inst[pc]; in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		return beginsWith(p, int(in.Out), begun, keywords) && beginsWith(p, int(in.Arg), begun, keywords)
	case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
		return beginsWith(p, int(in.Out), begun, keywords)
	case syntax.InstRune, syntax.InstRune1:
		for c := rune(0); c < 0x80; c++ {
			lower := unicode.ToLower(c)
			if in.MatchRune(c) && (c == lower || !in.MatchRune(lower)) &&
				!beginsWith(p, int(in.Out), begun+string(lower), keywords) {
				return false
			}
		}
		return true
	}
	return false
}

// longestMatch returns the runes of the longest match, more than farBefore for any.
func longestMatch(re *syntax.Regexp) int {
	n, most := 0, 0
	for _, s := range re.Sub {
		m := longestMatch(s)
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
		return farBefore
	case syntax.OpRepeat:
		if re.Max < 0 {
			return farBefore
		}
		return n * re.Max
	}
	return n
}
