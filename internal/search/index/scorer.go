// The formula: its parameters, its parts, and the bound that a posting keeps.

package index

import (
	"fmt"
	"math"
)

// The parameters that zero fields of [Params] stand for.
const (
	defaultK1 = 1.2
	defaultB  = 0.75
)

// Params are the constants of the formula.
type Params struct {
	K1 float64 // how slowly repeats stop counting, at least 0; 0 means 1.2
	B  float64 // how much length counts, from 0 to 1; 0 means 0.75

	// CountEmpty makes documents without terms count in N and avgdl.
	CountEmpty bool
}

// orDefault returns the parameters with the defaults filled in. It panics when
// K1 is negative, B is outside [0, 1], or either is not a number.
func (p Params) orDefault() Params {
	if !(p.K1 >= 0) || math.IsInf(p.K1, 1) || !(p.B >= 0 && p.B <= 1) {
		panic(fmt.Sprintf("index: parameters k1 = %v, b = %v out of range", p.K1, p.B))
	}
	if p.K1 == 0 {
		p.K1 = defaultK1
	}
	if p.B == 0 {
		p.B = defaultB
	}
	return p
}

// scale holds the formula's parts that are the same for all postings of one
// query.
type scale struct {
	n           float64 // N
	avgdl       float64
	k1          float64
	rest, slope float64 // One·k1·(1−b+b·dl/avgdl) = rest + slope·dl, dl in sixteenths
}

// scale returns the scale of so many documents of that length together.
func (p Params) scale(n int, total uint64) scale {
	s := scale{n: float64(n), k1: p.K1}
	if s.n > 0 {
		s.avgdl = float64(total) / One / s.n
	}
	s.rest = One * float64(p.K1*(1-p.B))
	if s.avgdl > 0 { // zero only when no document has terms
		s.slope = float64(p.K1*p.B) / s.avgdl
	}
	return s
}

// idf returns ln((N − df + 0.5)/(df + 0.5) + 1), the prior counted in N and df.
func (s scale) idf(df int, p Prior) float64 {
	d := float64(df) + p.DF
	return math.Log((s.n+p.N-d+0.5)/(d+0.5) + 1)
}

// gain returns idf·(k1+1)·weight, the term's part of the formula.
func (s scale) gain(idf, weight float64) float64 { return float64(float64(idf*(s.k1+1)) * weight) }

// score returns gain·tf / (tf + k1·(1 − b + b·dl/avgdl)), with tf and dl in
// sixteenths: both parts of the fraction are 16 times those of the formula,
// which changes no bit of it. The conversions keep the compiler from fusing a
// product with a sum, which some machines round otherwise than others do.
func (s scale) score(gain float64, tf, dl uint32) float64 {
	f := float64(tf)
	return float64(gain*f) / (f + (s.rest + float64(s.slope*float64(dl))))
}

// impactSteps is the impact of a posting that gives all that a term can give.
// Impacts have 7 bits, so that eight of them can be compared in one addition.
const impactSteps = 127

// impact returns the part of the gain that a posting gives, in 127ths, rounded
// up.
func (s scale) impact(tf uint16, dl uint32) uint8 {
	f := float64(tf)
	return uint8(min(1+int(impactSteps*f/(f+(s.rest+float64(s.slope*float64(dl))))), impactSteps))
}

// stretch returns what a bound by an impact of that slope has to be multiplied
// by to hold now: when the mean length has grown, all lengths count for less.
func (s scale) stretch(slope float64) float64 {
	if s.slope > 0 && s.slope < slope {
		return slope / s.slope
	}
	return 1
}

// unscored stands in lens for a document without terms, which counts nowhere.
const unscored = math.MaxUint32
