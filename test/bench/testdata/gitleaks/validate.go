// Package utils replaces the package with which gitleaks' generators test a rule. Its functions write
// each rule and its samples as a line of JSON.
package utils

import (
	"encoding/json"
	"os"

	"github.com/zricethezav/gitleaks/v8/config"
)

type allow struct {
	Target             string
	And                bool
	Paths              int
	Regexes, StopWords []string
}
type sample struct {
	ID, Regex, Path string
	Entropy         float64
	Group           int
	Keywords        []string
	Allow           []allow
	TP, FP          []string
}

func emit(r *config.Rule, tp, fp []string) *config.Rule {
	s := sample{ID: r.RuleID, Entropy: r.Entropy, Group: r.SecretGroup, Keywords: r.Keywords, TP: tp, FP: fp}
	if r.Regex != nil {
		s.Regex = r.Regex.String()
	}
	if r.Path != nil {
		s.Path = r.Path.String()
	}
	for _, a := range r.Allowlists {
		x := allow{Target: a.RegexTarget, And: a.MatchCondition == config.AllowlistMatchAnd, Paths: len(a.Paths), StopWords: a.StopWords}
		for _, re := range a.Regexes {
			x.Regexes = append(x.Regexes, re.String())
		}
		s.Allow = append(s.Allow, x)
	}
	json.NewEncoder(os.Stderr).Encode(s)
	return r
}

func Validate(rule config.Rule, tp []string, fp []string) *config.Rule { return emit(&rule, tp, fp) }

func ValidateWithPaths(rule config.Rule, tp map[string]string, fp map[string]string) *config.Rule {
	var t, f []string
	for _, v := range tp {
		t = append(t, v)
	}
	for _, v := range fp {
		f = append(f, v)
	}
	return emit(&rule, t, f)
}
