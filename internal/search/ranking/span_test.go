// This file tests the search terms into which a time span, such as a month in a query, is converted.

package ranking

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestSpanTermsAreFew checks that no time span between the years 1 and 9999 has more than maxDateTerms terms.
func TestSpanTermsAreFew(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		from := time.Date(
			1+r.IntN(9998),
			time.Month(1+r.IntN(12)),
			1+r.IntN(28),
			0,
			0,
			0,
			0,
			time.FixedZone("", (r.IntN(27)-12)*3600),
		)
		d := TimeSpan{From: from}
		switch r.IntN(4) {
		case 0:
			d.To = from.AddDate(0, 0, 1+r.IntN(100))
		case 1:
			d.To = from.AddDate(0, 1+r.IntN(100), 0)
		case 2:
			d.To = from.AddDate(1+r.IntN(10000-from.Year()), 0, 0)
		}
		if ts := timeSpanDateTerms(d); len(ts) > maxDateTerms {
			t.Fatalf("span from %v to %v has %d terms", d.From, d.To, len(ts))
		}
	}
}
