// This file records fingerprints for texts that agents may have read, so that repetitions of these texts are found
// later.

package provenance

import (
	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// recordFingerprints passes the entries that ops write to verb.RecordFingerprints. This function records fingerprints
// (hashes) of the texts of entries that repeat foreign text or have an unknown author, so that later repetitions of
// these texts are recognized. Errors are ignored, because later texts are also compared with the entries themselves.
//
// Entries whose only warning label is that they were imported are skipped. For imported texts, the comparison with the
// entries is enough. Besides, the fingerprints of a large import would displace the fingerprints of texts that agents
// have read.
func recordFingerprints(ops []oxbow.Op, provenanceData verb.ProvenanceData) {
	if provenanceData.Fingerprints == nil {
		return
	}
	var kept []oxbow.Entry
	for _, op := range ops {
		e := op.ApplyTo(oxbow.Entry{})
		unvouched := e.Values(oxbow.LabelUnvouched)
		isOnlyImported := len(unvouched) == 1 && unvouched[0] == oxbow.UnvouchedImport &&
			len(e.Values(oxbow.LabelTaint)) == 0
		if e.Content != "" && !isOnlyImported {
			kept = append(kept, e)
		}
	}
	verb.RecordFingerprints(*provenanceData.Fingerprints, kept...)
}
