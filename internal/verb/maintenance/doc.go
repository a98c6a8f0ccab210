// Package maintenance has the verbs that keep the files of a home whole: made, checked,
// verified, diagnosed, copied, recovered, compacted, and without what is to be erased.
package maintenance
