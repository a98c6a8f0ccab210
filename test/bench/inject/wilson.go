// How sure a share is.

package inject

import "math"

// Count is how many of some prompts, and of how many.
type Count struct {
	Of int `json:"n"`
	In int `json:"in"`
}

func (c *Count) add(in bool) {
	c.Of++
	if in {
		c.In++
	}
}

// Share returns the share, 0 of none.
func (c Count) Share() float64 {
	if c.Of == 0 {
		return 0
	}
	return float64(c.In) / float64(c.Of)
}

// Interval returns Wilson's interval of the share for 95 % (Wilson, Probable
// inference, 1927), which takes the prompts for independent; from 0 to 1 of none.
func (c Count) Interval() (low, high float64) {
	if c.Of == 0 {
		return 0, 1
	}
	const z = 1.959964
	n, p := float64(c.Of), c.Share()
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, middle-half), min(1, middle+half)
}
