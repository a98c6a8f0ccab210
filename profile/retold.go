// This file prevents a selection from containing the same fact twice: in a digest, and in an entry that the digest
// summarizes.

package profile

import (
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// maxDigestPeriod is the longest period that a digest can summarize.
const maxDigestPeriod = 31 * 24 * time.Hour

// isSummarizedBy reports whether the text of the digest d includes the entry e. A digest is an entry that summarizes
// the entries of a period, which begins at the digest's creation time and lasts at most maxDigestPeriod. The result is
// true if e has the label "covered", was created in this period, and d has all labels of e. The labels "covered" and
// "digest" and the labels for confidence and files are not compared. The result is false if d is not a digest or is the
// same entry as e.
func isSummarizedBy(e, d *oxbow.Entry) bool {
	if e.ID == d.ID {
		return false
	}
	if !isLabelTrue(d, LabelDigest) || !isLabelTrue(e, LabelCovered) {
		return false
	}
	if e.Created.Before(d.Created) || !e.Created.Before(d.Created.Add(maxDigestPeriod)) {
		return false
	}
	for _, l := range e.Labels {
		switch l.Key {
		case LabelCovered, LabelDigest, oxbow.LabelConfidence, oxbow.LabelFile, oxbow.LabelFileBlob:
			continue
		}
		if !slices.Contains(d.Labels, l) {
			return false
		}
	}
	return true
}

// omitSummarizedEntries returns the list all without entries whose text another entry in the list repeats. A digest is
// an entry that summarizes other entries. If the list contains a digest and an entry that the digest summarizes, only
// one of them is needed. All entries in the list must have been read.
//
// An entry is wanted if the profile lists it by name, if it is pinned, or if the query found it. The following rules
// apply:
//   - If a digest summarizes a wanted entry, the digest remains only if the profile lists the digest by name.
//   - All other digests remain.
//   - An unwanted entry is omitted if it is summarized by a digest that summarizes only unwanted entries.
//   - All other entries remain.
func omitSummarizedEntries(all rankHeap) rankHeap {
	isWanted := func(x *rankedEntry) bool {
		return x.isNamedInProfile || x.queryRank > 0 || x.rankClass == rankClassPinned
	}
	isRetold := func(e, by *rankedEntry) bool { return isSummarizedBy(e.entry, by.entry) }
	digests := slices.DeleteFunc(slices.Clone(all), func(d rankedEntry) bool {
		return !isLabelTrue(d.entry, LabelDigest) || slices.ContainsFunc(all, func(x rankedEntry) bool {
			return isWanted(&x) && isRetold(&x, &d)
		})
	})
	return slices.DeleteFunc(slices.Clone(all), func(x rankedEntry) bool {
		if isLabelTrue(x.entry, LabelDigest) {
			isLeft := slices.ContainsFunc(digests, func(d rankedEntry) bool { return d.id == x.id })
			return !isLeft && !x.isNamedInProfile
		}
		return !isWanted(&x) && slices.ContainsFunc(digests, func(d rankedEntry) bool { return isRetold(&x, &d) })
	})
}
