// This file implements the command "oxbow compress". In homes with a file for each day, it summarizes days into weeks
// and months. It also shortens files that a model always receives whole.

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func compressCommand(mem *lazyMemory) *cobra.Command {
	c := setUpFlagsAndArgs(&cobra.Command{
		Use:   "compress [SPAN [PERIOD] | --max-tokens N]",
		Short: "Shorten old texts, in homes of " + compressibleLayoutNames(),
		Long: `In a home of ` + namesOfLayoutsWithDigests() + `, which has a file for each day (a log), compress
replaces the logs of a week by a shorter file, a digest. A month is shortened
in the same way. SPAN is week or month, and the default is week. PERIOD is a
week such as 2026-W16, or a month such as 2026-04. Without a PERIOD, all periods
that have ended are compressed, but not the period of the two newest logs.

A digest has a part for each project. It also has a part for all memories with
the same other labels. Tags, files and confidence do not divide a part. Memories
that a memory profile excludes get a part of their own. The digest consists of
the beginnings of the sections, and has an eighth of the bytes. With --text, you
provide its text. A log of at most 2000 bytes stays unchanged, and --over
changes this limit. Searches still find the old logs, and compress undo restores
them.

In a home of ` + promptShorteningLayoutNames() + `, --max-tokens shortens the file that the model always
sees, MEMORY.md, to N tokens. First it removes repeated facts, then it shortens
paragraphs to their first sentence, and then it removes facts, the oldest first.
It stops as soon as the text fits. The removed texts move to another file, where
searches find them, but the model does not see them by itself. Entries with the
tag keep stay unchanged. It is one change, and oxbow undo takes it back.`,
		Example: `  oxbow compress --dry-run
  oxbow compress week 2026-W16
  oxbow compress week 2026-W16 --text project:vtt=digest.md
  oxbow compress month 2026-04
  oxbow compress undo month-2026-04
  oxbow compress --max-tokens 2000 --dry-run`,
		Args: requireArgCount(0, 2, "a SPAN and a PERIOD at most"),
	}, func(ctx context.Context, in compressIn, args []string) error {
		if in.MaxTokens != nil {
			switch budget := *in.MaxTokens; {
			case len(args) > 0 || len(in.Texts) > 0 || in.MinLogBytes != nil:
				return usageErrorf(
					"leave one of them out",
					"--max-tokens is for what is whole before the model, and a SPAN, --over or --text for days",
				)
			case budget < 1:
				return usageErrorf("for example: oxbow compress --max-tokens 2000 --dry-run",
					"--max-tokens %d is less than 1 token", budget)
			}
			return mem.shortenMainFileToBudget(
				ctx,
				maintenance.CompressHomeIn{MaxTokens: in.MaxTokens, DryRun: in.DryRun},
			)
		}
		r := maintenance.CompressHomeIn{DryRun: in.DryRun}
		if in.MinLogBytes != nil {
			r.LogByteThreshold = *in.MinLogBytes
			if r.LogByteThreshold < 1 {
				return usageErrorf("for example: oxbow compress --over 4000 --dry-run",
					"--over %d is less than 1 byte", r.LogByteThreshold)
			}
		}
		if len(args) > 0 {
			r.PeriodLength = args[0]
		}
		if len(args) > 1 {
			r.PeriodName = args[1]
			if r.PeriodName == "" {
				return usageErrorf("leave it out for all that are over", "the period is empty")
			}
		}
		if len(in.Texts) > 0 && r.PeriodName == "" {
			return usageErrorf(
				"for example: oxbow compress week 2026-W16 --text digest.md",
				"--text is the digest of one period, and none is named",
			)
		}
		return mem.compressLogsIntoDigests(ctx, r, in.Texts)
	})
	c.AddCommand(compressUndoCommand(mem))
	return c
}

// compressIn contains the flags of oxbow compress.
type compressIn struct {
	Texts       []string `json:"text,omitempty"       empty:"allowed" value:"FILE"  usage:"use the text in this FILE as the digest; - is standard input, and GROUP=FILE sets the text of one group"`
	MaxTokens   *int     `json:"max_tokens,omitempty"                               usage:"at most N tokens of text"                                                                                also:"token_budget,budget"`
	MinLogBytes *int     `json:"over,omitempty"                       value:"BYTES" usage:"shorten only logs of more than BYTES (default 2000; with --text, all logs)"`
	DryRun      bool     `json:"dry_run,omitempty"                                  usage:"show what would be done and change nothing"`
}

// shortenMainFileToBudget shortens the file that every session receives in full at its start, so that the file fits
// the token budget.
func (mem *lazyMemory) shortenMainFileToBudget(ctx context.Context, in maintenance.CompressHomeIn) error {
	out, err := callVerbRawError(ctx, mem, maintenance.CompressHome, in)
	if errors.Is(err, maintenance.ErrNoCompressibleFile) {
		return &hintedError{err, fmt.Sprintf(
			"oxbow context --max-tokens %d chooses what fits; oxbow consolidate takes out what is said twice",
			*in.MaxTokens,
		)}
	}
	if err != nil {
		return asUsageError(err)
	}
	return mem.env.showTidySteps(*out.FileShortening, in.DryRun, "it fits already")
}

// explainMissingDailyFiles returns an error with an explanation if the command "oxbow compress" failed with
// ErrNoDailyLogs. The command works only in a home whose layout has a memory file for each day. The new error names the
// home's path and layout, the layouts in which the command works, and another command that the person can use instead.
// All other errors are returned unchanged.
func (mem *lazyMemory) explainMissingDailyFiles(err error) error {
	if !errors.Is(err, maintenance.ErrNoDailyLogs) {
		return err
	}
	d, other, lerr := mem.finder.detectLayout()
	home, herr := mem.finder.homePath()
	if lerr != nil || herr != nil {
		return err
	}
	name, mend := ownLayoutName, "oxbow compact drops old history"
	if other {
		name, mend = d.Name, "oxbow consolidate takes out what is said twice"
	}
	opened, oerr := mem.openNonOxbowLayoutHome(verb.ReadWithoutTeamFiles)
	if _, isTidier := opened.(verb.Tidier); isTidier && oerr == nil {
		mend = "for example: oxbow compress --max-tokens 2000 --dry-run"
	}
	return &hintedError{
		fmt.Errorf(
			"compress works in homes of %s, and %s is laid out as %s: %w",
			namesOfLayoutsWithDigests(),
			home,
			name,
			oxbow.ErrUnsupported,
		),
		mend,
	}
}

func (mem *lazyMemory) compressLogsIntoDigests(
	ctx context.Context,
	in maintenance.CompressHomeIn,
	texts []string,
) error {
	if len(texts) > 0 {
		byGroup, err := mem.readDigestTexts(ctx, in, texts)
		if err != nil {
			return asUsageError(mem.explainMissingDailyFiles(err))
		}
		for _, group := range slices.Sorted(maps.Keys(byGroup)) {
			in.TextGroups, in.DigestTexts = append(in.TextGroups, group), append(in.DigestTexts, byGroup[group])
		}
	}
	out, err := callVerbRawError(ctx, mem, maintenance.CompressHome, in)
	return mem.env.showDigests("compressed", "would compress", out, mem.explainMissingDailyFiles(err))
}

// readDigestTexts reads the texts for a digest from files, and returns them by group. The list textArgs contains the
// arguments of the option --text. Each argument has the form GROUP=FILE, or FILE without a group. A text without a
// group is for the whole digest. Such a text is allowed only if the digest consists of a single part.
func (mem *lazyMemory) readDigestTexts(
	ctx context.Context,
	in maintenance.CompressHomeIn,
	textArgs []string,
) (map[string]string, error) {
	texts := map[string]string{}
	for _, t := range textArgs {
		group := ""
		file := t
		named := false
		if i := strings.LastIndexByte(t, '='); i >= 0 {
			group = t[:i]
			file = t[i+1:]
			named = true
		}
		if !named {
			in.DryRun = true
			in.LogByteThreshold = cmp.Or(
				in.LogByteThreshold,
				1,
			) // If the person gave a text with --text, shorten logs of every size.
			would, err := callVerbRawError(ctx, mem, maintenance.CompressHome, in)
			if err != nil {
				return nil, err
			}
			parts := would.Digests[0].Parts
			if len(parts) > 1 {
				groups := make([]string, len(parts))
				for i, p := range parts {
					groups[i] = shellQuote(p.Group + "=" + file)
				}
				return nil, usageErrorf("write one of: --text "+
					strings.Join(
						groups,
						", --text ",
					), "the digest has %d parts, and --text %s does not say which it is", len(parts), file)
			}
			group = parts[0].Group
		}
		if _, twice := texts[group]; twice {
			return nil, usageErrorf("", "--text is given twice for %q", group)
		}
		text, err := mem.env.readFile(file)
		if err != nil {
			return nil, err
		}
		texts[group] = text
	}
	return texts, nil
}

func compressUndoCommand(mem *lazyMemory) *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "undo DIGEST...",
		Short: "Take digests back and restore the logs",
		Long: `Undo moves the files that a digest covers back to their old place. The digest
moves to memory/undone, where nothing reads it.`,
		Example: `  oxbow compress undo week-2026-W16 --dry-run
  oxbow compress undo month-2026-04 week-2026-W16`,
		Args: requireArgCount(1, -1, "the name of a digest, such as week-2026-W16"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := maintenance.DecompressDigestsIn{DigestNames: args, DryRun: dry}
			out, err := callVerbRawError(cmd.Context(), mem, maintenance.DecompressDigests, in)
			return mem.env.showDigests("took back", "would take back", out, mem.explainMissingDailyFiles(err))
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "show what would be taken back and change nothing")
	return c
}

// showDigests prints the digests that were made, even if err is not nil, because they were made before the error.
func (env *environment) showDigests(doneVerb, plannedVerb string, out maintenance.CompressOut, err error) error {
	if err != nil && len(out.Digests) == 0 {
		return asUsageError(err)
	}
	if env.wantsJSON {
		return errors.Join(env.printJSON(out), err)
	}
	if out.DryRun {
		doneVerb = plannedVerb
	}
	env.showReport(describeDigests(doneVerb, out.Digests, out.DryRun))
	return err
}

// describeDigests reports which entries were shortened and how. The parameter verbPhrase is the verb for messages, in
// the past tense or, for a dry run, in the conditional.
func describeDigests(verbPhrase string, done []verb.Digest, isDryRun bool) (r report.Report) {
	var names []string
	for _, d := range done {
		if d.Skipped == "" {
			names = append(names, shellQuote(d.Name))
			r.Add(describeDigest(verbPhrase, d, isDryRun)...)
		} else {
			r.AddNotef("%s is passed over: it %s", report.QuotedText(d.Name), report.QuotedText(d.Skipped))
		}
		for _, n := range d.Notes {
			r.AddNotef("%s", report.QuotedText(n))
		}
	}
	switch {
	case len(done) == 0:
		r.AddNotef("nothing is to be compressed: what is over is compressed already, or holds the newest logs")
	case !isDryRun && verbPhrase == "compressed" && len(names) > 0:
		r.AddNotef("to take this back: oxbow compress undo %s", report.OxbowText(strings.Join(names, " ")))
	}
	return r
}

// describeDigest describes one digest and its parts. In a dry run, it shows the text of each part.
func describeDigest(verbPhrase string, d verb.Digest, isDryRun bool) []report.Section {
	files := report.OxbowText(formatCount(len(d.Covers), "file", "files"))
	all := []report.Section{report.Line{ShortReportValue: report.EntryName(d.Name),
		Sentence: report.Sentencef("%s %s, %s", report.OxbowText(verbPhrase), report.EntryName(d.Name), files)}}
	add := func(l report.Line) {
		l.IsDetail = true
		all = append(all, l)
	}
	for _, p := range d.Parts {
		// Skip the part if its number of entries is unknown. After an undo, the number is unknown, because an undo does
		// not read the files that the digest replaced.
		if p.Entries == 0 {
			continue
		}
		add(report.Line{Indent: 2, Sentence: report.Sentencef(
			"%s  %s, %s to %s",
			p.Entry,
			report.OxbowText(
				formatCount(p.Entries, "entry", "entries"),
			),
			report.OxbowText(formatBytes(int64(p.Before))),
			report.OxbowText(formatBytes(int64(p.After))),
		)})
		if !isDryRun {
			continue
		}
		for _, l := range p.Labels {
			add(report.Line{Indent: 4, IsFaint: true, Sentence: report.Sentencef("%s", l.String())})
		}
		add(report.Line{Indent: 4, Sentence: report.Sentencef("%s", report.Quote(p.Text))})
	}
	return all
}
