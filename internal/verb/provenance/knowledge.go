// This file records fingerprints for texts that agents may have read, so that repetitions of these texts are found
// later.

package provenance

import (
	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// recordFingerprints records the fingerprints (hashes) of the texts that ops write, if they repeat text by others or
// have an unknown author (see [verb.RecordFingerprints]). Later repetitions of these texts are then recognized. Errors
// are ignored, because later texts are also compared with the entries themselves.
//
// Entries whose only warning label is that they were imported are skipped. For them, the comparison with the entries is
// enough. Besides, a large import would displace the fingerprints of texts that agents have read.
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
