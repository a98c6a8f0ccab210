// Package report describes the answer to a call, so that each interface can print the answer in its own form. A
// report is a list of sections: sentences, records and tables. Their cells contain values, and the type of a value
// says whether its text is oxbow's own or was written by others. Each interface has one renderer, which lays out a
// report for a terminal, a model or a page. The renderer makes text by others safe to display, so that no verb can
// forget to do so.
package report

import (
	"fmt"
	"io"
	"strconv"
	"time"
)

// Report is the description of an answer.
type Report struct {
	Sections []Section
	Notes    []Sentence // facts beside the answer, such as the call that takes a change back
	Warnings []Sentence // problems that a short report shows as well
}

// Reporter is an answer that describes itself.
type Reporter interface{ Report() Report }

// Section is a part of a report: a [Line], a [Record], [Fields], a [Table], a [List], a [Finding], [Reasons] or a
// [Document].
type Section interface{ isSection() }

// Line is a sentence on a line of its own.
type Line struct {
	Sentence
	Indent     int  // spaces before the sentence
	IsDetail   bool // a short report omits the line
	IsFaint    bool // less important than the other lines
	MayBeCut   bool // the beginning is enough, so that a terminal does not wrap the line
	ShortValue any  // shown by a short report in place of the sentence, unless nil
}

// Record describes one thing, such as an entry or a proposal.
type Record struct {
	Key       any    // identifies the thing. A short report shows only this value, or nothing if it is nil
	Title     any    // shown in place of the key, unless nil
	Cells     []Cell // values shown next to the key
	TextCells []Cell // text shown below the cells

	// The effect of the call on the thing, such as "forgot NAME". If Effect is not empty, reports show
	// Effect instead of the key. Because the user named the thing, a terminal shows only Effect and the
	// number of the change.
	Effect        Sentence
	WrittenChange Change // the change that had the effect

	// The thing itself. A terminal may have a layout of its own for such things.
	Subject any
}

// Cell is a value with its name.
type Cell struct {
	Name    string // "" if the value needs no name
	Value   any
	IsFaint bool // less important than the remaining cells
}

// Table is a list of rows with the same columns. The first cell identifies the row, and a short
// report shows only this cell. It shows neighbours with the same first cell once.
type Table struct {
	Columns         []string // names of the columns, or nil
	Rows            [][]any
	WrapsLastColumn bool // the last column contains sentences, which a terminal wraps instead of cutting them
}

// Finding is the result of one check among several. A short report omits findings that need no action.
type Finding struct {
	Level  FindingLevel
	Topic  Words // what was checked
	Result any   // what was found
	Remedy Words // what to do about it, or ""
}

// FindingLevel is the importance of a finding: "ok", "unknown", "warning" or "problem".
type FindingLevel string

// NeedsAction reports whether somebody should do something about a finding of this level.
func (l FindingLevel) NeedsAction() bool { return l == "warning" || l == "problem" }

// Fields lists the properties of one thing, each on a line. Cells without a value are omitted.
type Fields struct {
	Cells []Cell
}

// List contains sections of the same kind, which may be many.
type List struct {
	Items         []Section
	HasBlankLines bool // an empty line separates the items, because they contain long texts
	IsNumbered    bool // the items have numbers, because their order matters
	// The advice on how to list all items. If AllItemsAdvice is not empty, a renderer may shorten a long list, and a
	// short report omits all items unless the items are the answer.
	AllItemsAdvice Words
	IsAnswer       bool // the items are the answer that the caller asked for
}

// Reasons explains why a result is empty.
type Reasons struct {
	Sentences    []Sentence
	SimilarNames Names // names that are similar to what the caller asked for
}

// Document is a text for a model that already marks text by others, such as the opening of a
// session. Every interface shows the text unchanged.
type Document string

func (Line) isSection()     {}
func (Record) isSection()   {}
func (Table) isSection()    {}
func (Fields) isSection()   {}
func (List) isSection()     {}
func (Finding) isSection()  {}
func (Reasons) isSection()  {}
func (Document) isSection() {}

// Add adds sections.
func (r *Report) Add(sections ...Section) { r.Sections = append(r.Sections, sections...) }

// AddLinef adds a sentence. See [Sentencef].
func (r *Report) AddLinef(format string, values ...any) {
	r.Add(Line{Sentence: Sentencef(format, values...)})
}

// AddDetailf adds a sentence that a short report omits.
func (r *Report) AddDetailf(format string, values ...any) {
	r.Add(Line{Sentence: Sentencef(format, values...), IsDetail: true})
}

// AddNotef adds a note. See [Sentencef].
func (r *Report) AddNotef(format string, values ...any) {
	r.Notes = append(r.Notes, Sentencef(format, values...))
}

// The types of values. A string is the text of others on one line, and a number is a number.
type (
	// Words is a text of oxbow. It may contain commands.
	Words string
	// Name is the name of an entry, which others chose.
	Name string
	// Names are names of entries.
	Names []string
	// Text is a text of others, in which line ends are kept.
	Text string
	// Quote is a Text that is marked as a quotation, because the caller did not ask for it.
	Quote string
	// Change is the number of the change that wrote a version. Homes without numbered changes do not show it.
	Change uint64
	// Lines are short texts by others. Each is shown on a separate line below the sentence. The format of the
	// sentence has no space before them.
	Lines []string
	// Labels are labels of entries. The characters that they may contain need no quotation marks.
	Labels []string
)

// WordedValue is a value that oxbow words for each interface, such as a note with the name of a parameter.
type WordedValue interface{ ForModel() string }

// EffectVerb returns the verb for the effect of a call, in a form that also fits a dry run.
func EffectVerb(dryRun bool, did, would string) Words {
	if dryRun {
		return Words(would)
	}
	return Words(did)
}

// AddReasons adds the reasons why a result is empty. They may have a type that the interfaces know.
func AddReasons[N any](r *Report, why []N, similarNames []string) {
	reasons := Reasons{SimilarNames: similarNames}
	for _, w := range why {
		reasons.Sentences = append(reasons.Sentences, Sentencef("%s", w))
	}
	r.Add(reasons)
}

// AddNotes adds the notes of an answer, which may have a type that its interfaces know.
func AddNotes[N any](r *Report, notes []N) {
	for _, n := range notes {
		r.AddNotef("%s", n)
	}
}

// Append adds all parts of another report.
func (r *Report) Append(other Report) {
	r.Sections = append(r.Sections, other.Sections...)
	r.Notes = append(r.Notes, other.Notes...)
	r.Warnings = append(r.Warnings, other.Warnings...)
}

// Warnf adds a warning. See [Sentencef].
func (r *Report) Warnf(format string, values ...any) {
	r.Warnings = append(r.Warnings, Sentencef(format, values...))
}

// TimeValue returns a value for a time in an answer (RFC 3339). If s is not a time, it returns s.
func TimeValue(s string) any {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return s
	}
	return t
}

// Sentence is a text of oxbow with values.
type Sentence struct {
	format string
	values []any
}

// IsEmpty reports whether the sentence has no text.
func (s Sentence) IsEmpty() bool { return s.format == "" }

// EndsWithLines reports whether the sentence's last value is a list of lines.
func (s Sentence) EndsWithLines() bool {
	if len(s.values) == 0 {
		return false
	}
	_, isLines := s.values[len(s.values)-1].(Lines)
	return isLines
}

// Sentencef returns a sentence. The format is written for [fmt.Sprintf]. Numbers may have any verb, and other values
// have %s or %q.
func Sentencef(format string, values ...any) Sentence { return Sentence{format, values} }

// FormatWith returns the sentence, with all values but numbers as write returns them.
func (s Sentence) FormatWith(write func(value any) string) string {
	args := make([]any, len(s.values))
	for i, v := range s.values {
		switch v.(type) {
		case int, int64, uint64, float64:
			args[i] = v // for verbs such as %d and %.2f
		default:
			args[i] = formattedValue{v, write}
		}
	}
	return fmt.Sprintf(s.format, args...)
}

// formattedValue is a value that writes itself with a function.
type formattedValue struct {
	value any
	write func(any) string
}

// Format implements [fmt.Formatter]. The verb %q quotes a string, so that it needs no other cleaning.
func (w formattedValue) Format(f fmt.State, verb rune) {
	text, isString := w.value.(string)
	if verb == 'q' && isString {
		_, _ = io.WriteString(f, strconv.Quote(text))
		return
	}
	_, _ = io.WriteString(f, w.write(w.value))
}
