// This file implements the command named "inject". It measures which texts from a memory are shown to a model for
// prompts. It uses public question sets, and compares oxbow's rule with the rules of other systems.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/test/bench/inject"
	"github.com/oxbow-memory/oxbow/test/bench/quality"
)

// injectFlags contains the flags of the command named "inject", which measures what is shown to a model.
type injectFlags struct {
	dataDir, dataSetNames    string
	json                     bool
	otherMemoryQuestionCount int
	changedMemoryCount       int
}

func injectCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	var f injectFlags
	fl.StringVar(
		&f.dataDir,
		"data",
		"",
		"`DIR` that holds the sets, each in a directory of its own, packed by gzip or not",
	)
	fl.StringVar(
		&f.dataSetNames,
		"set",
		"",
		"only these `SETS`, with commas between: "+strings.Join(inject.DataSetNames(), ", "),
	)
	fl.BoolVar(&f.json, "json", false, "print JSON")
	fl.IntVar(&f.otherMemoryQuestionCount, "foreign", 1000, "foreign questions of a set, in all its memories")
	fl.IntVar(
		&f.changedMemoryCount,
		"variants",
		20,
		"memories of a set that are asked in other forms, too: joined, beside a marathon, printed",
	)
	return func(ctx context.Context) error { return b.measureInjection(ctx, &f) }
}

// injectionDataSet is a set of conversations and prompts for the measurement of injection, which is the text from the
// memory that is shown to a model at a prompt. It also contains the result.
type injectionDataSet struct {
	Title        string   `json:"set"`
	Files        []string `json:"files,omitempty"`
	testMemories iter.Seq2[*inject.TestMemory, error]
	*inject.MeasurementResult
}

func (b *bench) measureInjection(ctx context.Context, f *injectFlags) error {
	if f.otherMemoryQuestionCount < 1 || f.changedMemoryCount < 1 {
		return fmt.Errorf(
			"--foreign and --variants are %d and %d: give numbers above 0",
			f.otherMemoryQuestionCount,
			f.changedMemoryCount,
		)
	}
	sets, err := f.readInjectionDataSets()
	if err != nil {
		return err
	}
	for _, s := range sets {
		s.MeasurementResult, err = inject.RunMeasurement(
			ctx,
			inject.Options{
				TestMemories:             s.testMemories,
				OtherMemoryQuestionCount: f.otherMemoryQuestionCount,
				ChangedMemoryCount:       f.changedMemoryCount,
				OnMemoryMeasured:         func(store string) { b.logf("inject: %s, %s", s.Title, store) },
			},
		)
		if d := new(quality.DataError); errors.As(err, &d) {
			return fmt.Errorf("measuring %s: %w\nget %s again from %s", s.Title, err, filepath.Base(d.File), d.URL)
		} else if err != nil {
			return fmt.Errorf("measuring %s: %w", s.Title, err)
		}
	}
	if f.json {
		return json.NewEncoder(b.out).Encode(sets)
	}
	b.printTitle("inject", os.TempDir())
	if f.dataDir == "" {
		b.printf(
			"The set is made by a program that is built in: it shows that the measurement works and says little " +
				"about real talk. Give --data DIR for real sets.\n\n",
		)
	}
	b.printInjectionTables(sets)
	return nil
}

// readInjectionDataSets returns the sets of conversations in the directory of the flag --data, or the built-in set if
// the flag is missing.
func (f *injectFlags) readInjectionDataSets() ([]*injectionDataSet, error) {
	if f.dataDir == "" {
		return []*injectionDataSet{{Title: "built in", testMemories: inject.GenerateTestMemories(1)}}, nil
	}
	if fi, err := os.Stat(f.dataDir); err != nil || !fi.IsDir() {
		return nil, fmt.Errorf("%s is not a directory; %s", f.dataDir, describeConversationSources())
	}
	wanted := inject.DataSetNames()
	if f.dataSetNames != "" {
		wanted = strings.Split(f.dataSetNames, ",")
	}
	var all []*injectionDataSet
	for _, name := range wanted {
		i := slices.IndexFunc(quality.QuestionSets(), func(s *quality.QuestionSet) bool { return s.Name == name })
		if i < 0 || !slices.Contains(inject.DataSetNames(), name) {
			return nil, fmt.Errorf("there is no set %q; there are %s", name, strings.Join(inject.DataSetNames(), ", "))
		}
		found, err := quality.QuestionSets()[i].FindSources(os.DirFS(f.dataDir), f.dataDir)
		if err != nil {
			return nil, err
		}
		for _, src := range found {
			all = append(
				all,
				&injectionDataSet{Title: src.Set.Title, Files: src.Files, testMemories: inject.ReadTestMemories(src)},
			)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds none of the sets; %s", f.dataDir, describeConversationSources())
	}
	return all, nil
}

// describeConversationSources returns text that tells the user which sets of conversations the command needs. For each
// set, the text names the title, the expected file and the address from which the set can be downloaded.
func describeConversationSources() string {
	var s strings.Builder
	s.WriteString("put there one or more of")
	for _, set := range quality.QuestionSets() {
		if slices.Contains(inject.DataSetNames(), set.Name) {
			fmt.Fprintf(&s, "\n  %s: %s\n    from %s", set.Title, set.ExpectedFiles, set.DownloadURL)
		}
	}
	return s.String()
}

// printInjectionTables prints three tables with results for each set of questions.
func (b *bench) printInjectionTables(sets []*injectionDataSet) {
	for _, s := range sets {
		b.printf("%s: %s units in %s memories\n\n", s.Title, formatCount(s.UnitCount), formatCount(s.StoreCount))
		of := s.RuleResults[0].QuotedTextMatchCounts
		b.emitTable(
			promptGroupTable(
				s,
				of,
				[]inject.PromptGroup{
					inject.AnswerableQuestions,
					inject.OtherMemoryQuestions,
					inject.TaskPrompts,
					inject.UnanswerableQuestions,
				},
			),
		)
		b.emitTable(promptGroupTable(
			s,
			of,
			[]inject.PromptGroup{
				inject.RepeatedPrompts,
				inject.ParaphrasedPrompts,
				inject.MixedMemoryQuestions,
				inject.LongSessionQuestions,
				inject.ToolOutputQuestions,
			},
		))
		b.emitTable(workingDayCostTable(s))
	}
	b.printf(
		"own: questions that the memory answers, and how many were shown a right unit among three; foreign: those " +
			"that another memory of the set answers; orders: acknowledgements and work orders in seven languages; " +
			"unanswerable: about the memory's subjects, without an answer. Of these three, how many got a payload. " +
			"again, paraphrase: of the questions that got something, how many got a unit of it again in the same " +
			"session. switch: own, each session joined with one of another person; marathon: own, beside a session " +
			"of 1,500 turns of others; tool: own, where only a failed command printed the answer. 95 %% is Wilson's " +
			"interval, which takes prompts for independent; those of one memory are not quite.\n\n",
	)
}

// promptGroupTable returns a table with two columns for each group of prompts: the share of the prompts that got
// sentences of an entry, and the 95 % confidence interval of this share. Each row is a rule that decides which entries
// a prompt gets from the memory. The rule of oxbow has a second row, which also counts the prompts that got only an
// entry's name.
func promptGroupTable(
	s *injectionDataSet,
	matchCounts map[inject.PromptGroup]*inject.PromptMatchCount,
	promptGroups []inject.PromptGroup,
) *markdownTable {
	head := []string{s.Title}
	for _, a := range promptGroups {
		head = append(head, fmt.Sprintf("%s, n = %s", a, formatCount(matchCounts[a].PromptCount)), "95 %")
	}
	t := newTable(head...)
	row := func(name string, counts func(inject.PromptGroup) inject.PromptMatchCount) {
		cells := []string{name}
		for _, a := range promptGroups {
			c := counts(a)
			if c.PromptCount == 0 {
				cells = append(cells, "–", "–")
				continue
			}
			low, high := c.ConfidenceInterval()
			share := formatShare(c.MatchShare())
			if c.PromptCount != matchCounts[a].PromptCount {
				share += " of " + formatCount(c.PromptCount)
			}
			cells = append(cells, share, formatShare(low)+"–"+formatShare(high))
		}
		t.addRow(cells...)
	}
	for _, r := range s.RuleResults {
		row(r.RuleName, func(a inject.PromptGroup) inject.PromptMatchCount { return *r.QuotedTextMatchCounts[a] })
		if r.RuleName == inject.OxbowRuleName {
			row("… or a pointer", func(a inject.PromptGroup) inject.PromptMatchCount {
				return inject.PromptMatchCount{
					PromptCount:         r.QuotedTextMatchCounts[a].PromptCount,
					MatchingPromptCount: r.QuotedTextMatchCounts[a].MatchingPromptCount + r.NameOnlyMatchCounts[a].MatchingPromptCount,
				}
			})
		}
	}
	return t
}

// formatShare formats a share from 0 to 1 with three decimal places, without the leading zero.
func formatShare(x float64) string { return strings.TrimPrefix(fmt.Sprintf("%.3f", x), "0") }

// workingDayCostTable returns a table about a day with many prompts. For each rule, the table shows the number of
// prompts, and the shares of the prompts for which the rule quotes texts or names texts. For oxbow's rule, it also
// shows how many tokens the rule adds to a prompt and how long the decision takes.
func workingDayCostTable(s *injectionDataSet) *markdownTable {
	t := newTable(
		s.Title+": a day",
		"prompts",
		"payload",
		"pointer",
		"tokens, median",
		"mean",
		"p99",
		"time, p50",
		"p99",
	)
	for _, r := range s.RuleResults {
		d, n := r.WorkingDayCost, float64(max(r.WorkingDayCost.Prompts, 1))
		cells := []string{
			r.RuleName,
			formatCount(d.Prompts),
			formatShare(float64(d.PromptsWithQuotes) / n),
			formatShare(float64(d.PromptsWithNamesOnly) / n),
		}
		if r.RuleName == inject.OxbowRuleName {
			cells = append(
				cells,
				formatCount(d.MedianTokens),
				formatRoundedNumber(d.MeanPromptTokens),
				formatCount(d.TokensP99),
				formatDuration(d.MedianDecisionTime),
				formatDuration(d.TimeP99),
			)
		} else { // The other rules do not compose the text for the agent, so they have no tokens and times.
			cells = append(cells, "–", "–", "–", "–", "–")
		}
		t.addRow(cells...)
	}
	return t
}
