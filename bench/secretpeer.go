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
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

// gitleaks is the version whose rules are in internal/secret. It is in no go.mod:
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
)

// ownKeywords are keywords in the place of those that are names of a service, and
// may be far from the secret.
var ownKeywords = map[string][]string{
	"airtable-personnal-access-token": {"pat"},
	"cloudflare-origin-ca-key":        {"v1.0-"},
	"intra42-client-secret":           {"s-s4t2ud-", "s-s4t2af-"},
	"kubernetes-secret-yaml":          {"kind:"},
}

// inValue are rules of assignments whose keyword is in the value.
var inValue = []string{"gocardless-api-token", "lob-api-key", "lob-pub-api-key", "new-relic-browser-api-token", "new-relic-insert-key",
	"new-relic-user-api-key", "typeform-api-token"}

// apart are rules whose keyword need not be in the match.
var apart = []string{"facebook-access-token", "sourcegraph-access-token"}

// writeRules writes rules in the format of internal/secret.
func writeRules(w io.Writer, rules []peerRule) error {
	var b strings.Builder
	b.WriteString("# The rules of gitleaks (" + gitleaks + "), made by: cd bench && go run . secrets --rules\n# See LICENSE.gitleaks. The format is described in rules.go.\n")
	slices.SortFunc(rules, func(a, b peerRule) int { return strings.Compare(a.ID, b.ID) })
	for _, r := range rules {
		if r.Regex == "" {
			continue // the name of a file
		}
		if own := ownKeywords[r.ID]; own != nil {
			r.Keywords = own
		}
		// One expression for a name and one for a token is two rules.
		short := shorter.Replace(r.Regex)
		first, second, two := strings.Cut(short, `%{end}|\b`)
		if two {
			token := slices.DeleteFunc(slices.Clone(r.Keywords), func(k string) bool { return !strings.Contains(strings.ToLower(second), strings.ToLower(k)) })
			names := slices.DeleteFunc(slices.Clone(r.Keywords), func(k string) bool { return slices.Contains(token, k) })
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
		keywords[i] = strings.ToLower(keywords[i])
	}
	mode := "="
	if _, value, ok := strings.Cut(short, "%{is}"); ok && slices.Contains(inValue, r.ID) {
		mode = strconv.Itoa(runOf(value))
	} else if !ok {
		mode = "0"
		if !slices.Contains(apart, r.ID) {
			mode = strconv.Itoa(runOf(short))
		}
	}
	fmt.Fprintf(b, "%s\t%s\t%g\t%d\t%s\t%s\n", r.ID, mode, r.Entropy, r.Group, strings.Join(keywords, " "), short)
	for _, a := range r.Allow {
		if a.Paths > 0 {
			continue
		}
		for _, re := range a.Regexes {
			fmt.Fprintf(b, "\t%s\t%s\n", cmp.Or(a.Target, "secret"), re)
		}
	}
}

// runOf returns the least bytes without white space and quotes that a match has
// around a keyword; 0 where it has such bytes.
func runOf(short string) int {
	short = strings.NewReplacer("%{end}", "", `\b`, "", `(?:[^\w-]|\z)`, "", `(?:[\x60'"\s;]|\\[nr]|$|\b)`, "").Replace(short)
	re, err := syntax.Parse(short, syntax.Perl)
	if err != nil || spaced(re) {
		return 0
	}
	return least(re)
}

// spaced reports whether a match may have white space or quotes.
func spaced(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	case syntax.OpLiteral:
		return strings.ContainsAny(string(re.Rune), " \t\r\n'\"`")
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for _, c := range " \t\r\n'\"`" {
				if re.Rune[i] <= c && c <= re.Rune[i+1] {
					return true
				}
			}
		}
	}
	return slices.ContainsFunc(re.Sub, spaced)
}

// least returns the least runes of a match.
func least(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass:
		return 1
	case syntax.OpCapture, syntax.OpPlus:
		return least(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min * least(re.Sub[0])
	case syntax.OpConcat:
		n := 0
		for _, s := range re.Sub {
			n += least(s)
		}
		return n
	case syntax.OpAlternate:
		n := least(re.Sub[0])
		for _, s := range re.Sub[1:] {
			n = min(n, least(s))
		}
		return n
	}
	return 0
}
