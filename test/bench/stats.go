// This file formats timings: quantiles, ratios and tables.

package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// timings contains repeated measurements of the same operation.
type timings []time.Duration

// timeCall runs fn and appends the time that it took.
func (t *timings) timeCall(fn func() error) error {
	from := time.Now()
	err := fn()
	*t = append(*t, time.Since(from))
	return err
}

// quantile returns the quantile q of the measurements by the nearest-rank method: the smallest measurement that at
// least the fraction q of all measurements do not exceed. Without measurements, it returns 0.
func (t timings) quantile(q float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(t))
	i := int(math.Ceil(q*float64(len(s)))) - 1
	return s[min(max(i, 0), len(s)-1)]
}

func (t timings) p50() time.Duration { return t.quantile(.5) }

// median returns the middle value, or the mean of the two middle values if the value count is even. It returns 0
// without values.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	m := len(s) / 2
	if len(s)%2 == 1 {
		return s[m]
	}
	return (s[m-1] + s[m]) / 2
}

// formatDuration formats a duration in ns, µs, ms or s. It uses seconds for durations of at least 1 s, milliseconds for
// at least 1 ms, microseconds for at least 1 µs, and otherwise nanoseconds.
func formatDuration(d time.Duration) string {
	switch f := float64(d); {
	case d < time.Microsecond:
		return fmt.Sprintf("%d ns", d)
	case d < time.Millisecond:
		return formatRoundedNumber(f/1e3) + " µs"
	case d < time.Second:
		return formatRoundedNumber(f/1e6) + " ms"
	default:
		return formatRoundedNumber(f/1e9) + " s"
	}
}

// formatProcessorTime formats a difference of two results of processorTime. It returns a dash on systems on which the
// processor time is unknown.
func formatProcessorTime(d time.Duration) string {
	if _, ok := processorTime(); !ok {
		return "–"
	}
	return formatDuration(d)
}

// formatRoundedNumber formats a number below 10 with two decimals, and a number below 100 with one decimal. Larger
// numbers are rounded to integers, and their digits are grouped by thousands, as in 1,234,567.
func formatRoundedNumber(f float64) string {
	switch a := math.Abs(f); {
	case a < 9.995:
		return fmt.Sprintf("%.2f", f)
	case a < 99.95:
		return fmt.Sprintf("%.1f", f)
	}
	s := fmt.Sprintf("%.0f", f)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// formatCount formats an integer with grouped thousands.
func formatCount(n int) string {
	if n > -100 && n < 100 {
		return fmt.Sprint(n)
	}
	return formatRoundedNumber(float64(n))
}

// formatPeakMemory formats the peak memory of a child process. A figure that does not exceed the peak of this process
// is only an upper bound, and is marked with ≤.
func formatPeakMemory(bytes int64) string {
	if bytes <= ownPeakMemoryBytes() {
		return fmt.Sprintf("≤ %d MB", bytes>>20)
	}
	return fmt.Sprintf("%d MB", bytes>>20)
}

// formatRatio returns the quotient of a and b as text, such as "2.5×". It returns "–" if b is not positive.
func formatRatio[T ~int | ~int64](a, b T) string {
	if b <= 0 {
		return "–"
	}
	return formatRoundedNumber(float64(a)/float64(b)) + "×"
}

// markdownTable is a Markdown table with a text in the first column and numbers in all other columns.
type markdownTable struct {
	head []string
	rows [][]string
}

func newTable(head ...string) *markdownTable { return &markdownTable{head: head} }

// addRow adds a row. It must have as many cells as the head.
func (t *markdownTable) addRow(cells ...string) {
	if len(cells) != len(t.head) {
		panic(fmt.Sprintf("bench: row of %d cells in a table of %d columns", len(cells), len(t.head)))
	}
	t.rows = append(t.rows, cells)
}

// print writes the table and an empty line. The cells are padded, so that the table is readable as
// plain text.
func (t *markdownTable) print(w io.Writer) {
	width := make([]int, len(t.head))
	for _, r := range append([][]string{t.head}, t.rows...) {
		for i, c := range r {
			width[i] = max(width[i], utf8.RuneCountInString(c), 3)
		}
	}
	line := func(r []string) {
		var b strings.Builder
		for i, c := range r {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if i == 0 {
				b.WriteString("| " + c + pad + " ")
			} else {
				b.WriteString("| " + pad + c + " ")
			}
		}
		fmt.Fprintln(w, b.String()+"|")
	}
	line(t.head)
	var b strings.Builder
	for i, n := range width {
		if i == 0 {
			b.WriteString("|" + strings.Repeat("-", n+2))
		} else {
			b.WriteString("|" + strings.Repeat("-", n+1) + ":")
		}
	}
	fmt.Fprintln(w, b.String()+"|")
	for _, r := range t.rows {
		line(r)
	}
	fmt.Fprintln(w)
}
