// This file writes the report of oxbow check, which says whether the memory is damaged.

package maintenance

import (
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// sidecarRepairAdvice tells the user how to repair files of annotations with damaged lines.
const sidecarRepairAdvice = "oxbow annotate recover keeps these lines beside, and puts back what can be read of them; or " +
	"git checkout an older version of the file"

// Report says whether the memory, the annotations and the archive of sessions are sound. The memory can be reported as
// sound even if the annotations or the archive have problems.
func (o CheckOut) Report() (r report.Report) {
	if len(o.Problems) > 0 {
		r.Append(o.problemReport())
	} else {
		r.Append(o.checkedReport())
	}
	if o.Annotations != nil {
		r.Append(o.Annotations.makeReport())
	}
	if s := o.Sessions; s != nil && len(s.Problems) > 0 {
		addProblems(&r, s.Store, s.Problems)
	} else if s != nil {
		r.AddDetailf("%s is sound: %s, %s", s.Store, report.Words(text.FormatCount(s.Entries, "entry", "entries")),
			report.Words(text.FormatBytes(s.Bytes)))
	}
	return r
}

// problemReport lists the problems of the memory.
func (o CheckOut) problemReport() (r report.Report) {
	addProblems(&r, o.Store, o.Problems)
	r.Append(o.remarkReport())
	return r
}

// checkedReport lists the parts that were checked.
func (o CheckOut) checkedReport() (r report.Report) {
	if o.IsMissing {
		r.AddNotef("there is no memory in %s yet", filepath.Dir(o.Store))
	} else {
		r.AddDetailf("%s is sound: %s, %s, %s", o.Store, report.Words(text.FormatCount(o.Entries, "entry", "entries")),
			report.Words(text.FormatCount(o.Records, "record", "records")), report.Words(text.FormatBytes(o.Bytes)))
		if o.Head != "" {
			r.AddDetailf("changes %d to %d, head %s", o.FirstSeq, o.LastSeq, o.Head)
		}
		if s := o.SinceHead; s != nil && s.Found {
			r.AddDetailf("since change %d, changes were only added: %d of them", s.Seq, o.LastSeq-s.Seq)
		}
		if h := o.SignedHeads; h != nil && h.MatchingHeads > 0 {
			agree := text.FormatCount(h.MatchingHeads, "signed head agrees", "signed heads agree")
			r.AddDetailf("%s with it, the last of change %d, by key %s", report.Words(agree), h.LastSeq, h.Key)
		}
	}
	r.Append(o.remarkReport())
	return r
}

// remarkReport lists the check's notes, and the torn tails of the log that were kept. Neither is damage.
func (o CheckOut) remarkReport() (r report.Report) {
	for _, n := range o.Notes {
		r.AddNotef("%s", report.Words(n))
	}
	if n := len(o.TornTails); n > 0 {
		r.AddNotef(
			"%s in %s: what interrupted writes left, kept when it was cut off; nothing acknowledged is in it, and "+
				"nothing needs it",
			report.Words(text.FormatCount(n, "torn tail is", "torn tails are")),
			filepath.Dir(o.TornTails[0].File),
		)
	}
	return r
}

// addProblems adds each problem of a store with its remedy.
func addProblems(r *report.Report, store string, problems []verb.Problem) {
	r.AddLinef("%s has %s:", store, report.Words(text.FormatCount(len(problems), "problem", "problems")))
	for _, p := range problems {
		what := report.Sentencef("%s", report.Text(p.Description))
		if p.Offset >= 0 {
			what = report.Sentencef("byte %d: %s", p.Offset, report.Text(p.Description))
		}
		r.Add(report.Line{Sentence: what, Indent: 2})
		if p.Mend != "" {
			r.Add(report.Line{Sentence: report.Sentencef("mend: %s", report.Words(p.Mend)), Indent: 4})
		}
	}
}

// makeReport says whether the files of annotations are sound.
func (c *AnnotationsCheck) makeReport() (r report.Report) {
	if n := len(c.Problems); n > 0 {
		r.AddLinef("the annotations have %s:", report.Words(text.FormatCount(n, "problem", "problems")))
		for _, p := range c.Problems {
			r.Add(report.Line{Sentence: report.Sentencef("%s %s", p.Position(), p.Description), Indent: 2})
		}
		r.Add(report.Line{Sentence: report.Sentencef("mend: %s", report.Words(sidecarRepairAdvice)), Indent: 4})
	} else {
		r.AddDetailf("the annotations are sound: %d in %s", c.Annotations,
			report.Words(text.FormatCount(c.Files, "sidecar", "sidecars")))
	}
	if c.Torn > 0 {
		r.AddNotef("%s with a write that was cut off: nothing acknowledged is in it",
			report.Words(text.FormatCount(c.Torn, "sidecar ends", "sidecars end")))
	}
	if c.Newer > 0 {
		r.AddNotef("%s by a newer oxbow, and passed over",
			report.Words(text.FormatCount(c.Newer, "line was written", "lines were written")))
	}
	return r
}
