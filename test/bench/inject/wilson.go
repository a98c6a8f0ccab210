// This file computes which share of the prompts matched, and the confidence interval for this share.

package inject

import "math"

// PromptMatchCount counts the test prompts, and the prompts for which the expected text was shown.
type PromptMatchCount struct {
	PromptCount         int `json:"n"`
	MatchingPromptCount int `json:"in"`
}

func (c *PromptMatchCount) addPrompt(isMatch bool) {
	c.PromptCount++
	if isMatch {
		c.MatchingPromptCount++
	}
}

// MatchShare returns the fraction of prompts that match. It is 0 without prompts.
func (c PromptMatchCount) MatchShare() float64 {
	if c.PromptCount == 0 {
		return 0
	}
	return float64(c.MatchingPromptCount) / float64(c.PromptCount)
}

// ConfidenceInterval returns Wilson's 95 % confidence interval of c.MatchShare(), the share of the prompts that match
// (Wilson, Probable inference, 1927). It assumes that the prompts are independent. If c.PromptCount is 0, the interval
// is from 0 to 1.
func (c PromptMatchCount) ConfidenceInterval() (low, high float64) {
	if c.PromptCount == 0 {
		return 0, 1
	}
	const z = 1.959964
	n, p := float64(c.PromptCount), c.MatchShare()
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, middle-half), min(1, middle+half)
}
