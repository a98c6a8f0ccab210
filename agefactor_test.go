// This file tests the factor by which the age of an entry lowers its score.

package oxbow

import (
	"math"
	"testing"
	"time"
)

// TestAgeFactorOfOldEntries tests that the factor of very old entries and of very short half-lives is never 0, NaN or
// above 1, although the power of two in its formula underflows to 0.
func TestAgeFactorOfOldEntries(t *testing.T) {
	now := time.Date(2026, 4, 14, 0, 0, 0, 0, time.UTC)
	for _, years := range []int{-1000, -1, 0, 1, 100, 1000, 2025} {
		age := now.Sub(now.AddDate(-years, 0, 0)) // Sub limits the age to 292 years.
		last := 0.0
		for _, halfLife := range []time.Duration{1, time.Second, time.Hour, 30 * 24 * time.Hour, math.MaxInt64} {
			f := ageFactor(age, halfLife)
			if !(f >= oldestEntryScoreFactor && f <= 1) || f < last {
				t.Errorf("%d years, half-life %v: %v, but %v with a shorter one", years, halfLife, f, last)
			}
			last = f
		}
	}
}
