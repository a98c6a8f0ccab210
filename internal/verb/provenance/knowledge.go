// This file records fingerprints for texts that agents may have read, so that repetitions of these texts are found
// later.

package provenance

import (
	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// recordFingerprints records fingerprints of texts that repeat foreign text or have an unknown author. Errors are
// ignored, because later texts are also compared with the entries themselves. For texts that were only imported, that
// comparison is enough: a large import's fingerprints would displace the fingerprints of texts that agents have read.
func recordFingerprints(ops []oxbow.Op, k verb.ProvenanceData) {
	if k.Fingerprints == nil {
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
	verb.RecordFingerprints(*k.Fingerprints, kept...)
}
