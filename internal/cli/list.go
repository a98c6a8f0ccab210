// This file implements the command "oxbow list".

package cli

import (
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/base/syntax"
	"github.com/oxbow-memory/oxbow/internal/base/termtext"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

func listCommand(mem *lazyMemory) *cobra.Command {
	return setUpVerbCommand(mem, &cobra.Command{
		Use:     "list [FILTER…]",
		Aliases: []string{"ls"},
		Short:   "List entries, newest first",
		Example: `  oxbow list
  oxbow list project:harbor -tag:draft
  oxbow list has:personal             # mail address, IBAN, card
  oxbow list --kind note --after 2026-04 --limit 100`,
	}, verb.ListEntries, func(in *verb.ListIn, _ *flagSet, args []string) error {
		if in.Filter != "" {
			args = append(args, in.Filter)
		}
		in.Filter = strings.Join(args, " ")
		return checkListFilters(args)
	}, mem.env.showList)
}

// listWordSuggestions maps a word that people type after "list" to the command that they mean.
var listWordSuggestions = map[string]string{"entries": "list", "notes": "list", "memories": "list", "all": "list",
	"everything": "list", "labels": "label list", "tags": "label list", "sessions": "session list",
	"handoffs": "handoff list", "profiles": "profile list"}

// checkListFilters checks the arguments of the command "oxbow list". It returns an error if they are words and not
// filters. Only commands that rank entries accept words, and "oxbow list" does not rank entries.
func checkListFilters(args []string) error {
	if len(args) == 0 || strings.ContainsFunc(strings.Join(args, ""), isNoLetter) {
		return nil
	}
	if name, ok := listWordSuggestions[strings.ToLower(args[0])]; ok && len(args) == 1 {
		return usageErrorf("did you mean: oxbow "+name, "filter %q is not key:value, such as tag:decision", args[0])
	}
	if len(args) == 1 && syntax.NearestKey(args[0]) != "" {
		// The user probably mistyped the key of the filter term. Return no error here, because the list function will
		// return an error that suggests the right key.
		return nil
	}
	return usageErrorf("to find entries by words: oxbow recall "+quoteShellWords(args),
		"filter %q is not key:value, such as project:vtt or -tag:draft", args[0])
}

func isNoLetter(r rune) bool { return !unicode.IsLetter(r) }

// showList prints entries as a table. If stdout is a terminal, showList adds a header row. It does not use the table of
// package report, because showListTable divides the terminal's width among the columns, and omits the column with the
// entries' texts if stdout is not a terminal.
func (env *environment) showList(out verb.ListOut) {
	if len(out.Entries) == 0 {
		env.explainEmptyResult(out.EmptyReasons, out.SimilarNames)
		env.showNotes(out.Notes)
		return
	}
	if env.isQuiet {
		for _, e := range out.Entries {
			env.printf("%s\n", printableName(e.Name))
		}
		return
	}
	rows := make([][]string, 0, len(out.Entries)+1)
	if env.IsStdoutTerminal {
		rows = append(rows, []string{"NAME", "KIND", "AGE", "LABELS", "BEGINS"})
	}
	for _, e := range out.Entries {
		rows = append(
			rows,
			[]string{printableName(e.Name), e.Kind, ageText(parseTime(e.Updated), env.Now()),
				formatLabels(labelsToPrint(e.Labels), maxLabelValues), toPrintableLine(e.Snippet)},
		)
	}
	env.showListTable(rows)
	env.showNotes(out.Notes)
}

// showListTable prints rows that consist of a name, two short columns, labels and a text. On a terminal, each column
// gets a share of the width. In a pipe, cells are not shortened, and the text is left out.
func (env *environment) showListTable(rows [][]string) {
	var wide [5]int
	for _, row := range rows {
		for i, cell := range row {
			wide[i] = max(wide[i], countColumns(cell))
		}
	}
	head := env.IsStdoutTerminal
	if room := env.screenWidth(); head {
		wide[0] = min(wide[0], max(16, room/3))
		room = max(0, room-wide[0]-wide[1]-wide[2]-6)
		labels := min(wide[3], room/2)
		wide[3], wide[4] = min(wide[3], room), min(wide[4], room-labels-2)
		if wide[4] >= 16 {
			wide[3] = labels
		} else {
			wide[4] = 0
		}
	}
	for n, row := range rows {
		if !head {
			env.printf(
				"%s\n",
				strings.TrimRight(
					padColumns(row[0], wide[0])+"  "+padColumns(row[1], wide[1])+"  "+padColumns(row[2], 4)+"  "+
						row[3],
					" ",
				),
			)
			continue
		}
		paint := []string{termtext.Bold, "", "", termtext.Dim, ""}
		line := ""
		for i, cell := range row {
			if n == 0 {
				paint[i] = termtext.Dim
			}
			if wide[i] > 0 {
				line += "  " + padColumns(env.paint(paint[i], fitColumns(cell, wide[i])), wide[i])
			}
		}
		env.printf("%s\n", strings.TrimRight(line[2:], " "))
	}
}
