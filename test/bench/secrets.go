// This file implements the command named "secrets". It measures how many of gitleaks' samples oxbow finds, how many
// texts without a secret oxbow reports, and how fast the search is.

package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/screening/secret"
)

func secretsCommand(b *bench, fs *flag.FlagSet) func(ctx context.Context) error {
	dump := fs.String("find", "", "print what is found in the files of `DIR`, and measure nothing")
	runs := fs.Int("runs", 5, "how often gitleaks makes samples")
	rules := fs.Bool(
		"rules",
		false,
		"write the rules of gitleaks into internal/screening/secret, which go test -run TestTable -update then "+
			"compiles, and measure nothing",
	)
	return func(ctx context.Context) error {
		if *rules {
			return b.writeSecretRules(ctx)
		}
		if *dump != "" {
			return printSecretsInDir(b, *dump)
		}
		return b.countGitleaksSamples(ctx, *runs)
	}
}

// countGitleaksSamples searches the test samples of the program gitleaks for secrets, and logs the counts. Each sample
// belongs to a rule of gitleaks. These samples are counted:
//   - samples with a secret in which oxbow finds no secret
//   - samples with a secret in which oxbow finds a secret by the sample's rule
//   - samples without a secret in which oxbow finds a secret by the sample's rule
//
// Samples with a secret are skipped if their rule has no regular expression.
func (b *bench) countGitleaksSamples(ctx context.Context, runs int) error {
	all, err := generateRuleSets(ctx, runs)
	if err != nil {
		return err
	}
	samples := 0
	named := 0
	missed := 0
	alone := 0
	left := 0
	for _, rules := range all {
		for _, r := range rules {
			for _, tp := range r.TP {
				if r.Regex == "" {
					continue
				}
				samples++
				found := secret.Find(tp)
				if slices.ContainsFunc(found, func(f secret.Finding) bool { return f.Rule == r.ID }) {
					named++
				}
				if len(found) == 0 {
					missed++
					b.logf("missed: %s: %q", r.ID, tp)
				}
			}
			for _, fp := range r.FP {
				left++
				found := secret.Find(fp)
				if slices.ContainsFunc(found, func(f secret.Finding) bool { return f.Rule == r.ID }) {
					alone++
					b.logf("not left alone: %s: %q", r.ID, fp)
				}
			}
		}
	}
	b.logf("%d samples, %d missed, %d by their own rule; %d of %d not left alone", samples, missed, named, alone, left)
	return nil
}

func printSecretsInDir(b *bench, dir string) error {
	var total, hits int64
	var took time.Duration
	byRule := map[string]int{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		t, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		text := string(t)
		total += int64(len(text))
		begin := time.Now()
		found := secret.Find(text)
		took += time.Since(begin)
		for _, f := range found {
			hits++
			byRule[f.Rule]++
			b.printf(
				"%s\t%s\t%q\t%q\n",
				f.Rule,
				strings.TrimPrefix(p, dir),
				text[max(0, f.Start-40):f.Start],
				text[f.Start:min(f.End, f.Start+120)],
			)
		}
		return nil
	})
	b.logf(
		"%d bytes, %d hits, %.1f MB/s, %.2f hits/MB %v",
		total,
		hits,
		float64(total)/1e6/took.Seconds(),
		float64(hits)/float64(total)*1e6,
		byRule,
	)
	return err
}

func (b *bench) writeSecretRules(ctx context.Context) error {
	all, err := generateRuleSets(ctx, 1)
	if err != nil {
		return err
	}
	dir := filepath.Join("..", "..", "internal", "screening", "secret")
	f, err := os.Create(filepath.Join(dir, "rules.txt"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := writeRules(f, all[0]); err != nil {
		return err
	}
	for _, r := range all[0] {
		if r.ID == "generic-api-key" {
			var words []string
			for _, a := range r.Allow {
				words = append(words, a.StopWords...)
			}
			return os.WriteFile(filepath.Join(dir, "stopwords.txt"), []byte(strings.Join(words, "\n")+"\n"), 0o644)
		}
	}
	return nil
}
