// This file lists irregular forms of English words, to which the rules for endings do not apply.

package analysis

import (
	"strings"
	"sync"
)

// irregularBaseForms returns a map from each irregular form to the word whose stem is used for the form.
var irregularBaseForms = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for line := range strings.SplitSeq(irregularForms, ",") {
		ws := strings.Fields(line)
		for _, form := range ws[min(1, len(ws)):] {
			m[form] = ws[0]
		}
	}
	return m
})

// Each entry of irregularForms contains a word and its irregular forms. Some of these forms are also separate words
// (found, left, saw, felt). Such a form is listed only if it is more likely the form of the verb in a memory's text.
// Therefore lay, bore, wound, bound, ground and rose are not listed.
const irregularForms = `
arise arose arisen, awake awoke awoken, bear borne, beat beaten, become became, begin began begun, bend bent,
bite bit bitten, bleed bled, blow blew blown, break broke broken, breed bred, bring brought, build built,
burn burnt, buy bought, catch caught, choose chose chosen, cling clung, come came, creep crept, deal dealt,
dig dug, do did done does, draw drew drawn, dream dreamt, drink drank drunk, drive drove driven, eat ate eaten,
fall fell fallen, feed fed, feel felt, fight fought, find found, flee fled, fling flung, fly flew flown,
forbid forbade forbidden, forget forgot forgotten, forgive forgave forgiven, freeze froze frozen,
get got gotten, give gave given, go went gone goes, grow grew grown, hang hung, hear heard, hide hid hidden,
hold held, keep kept, kneel knelt, know knew known, lead led, leap leapt, learn learnt, leave left, lend lent,
light lit, lose lost, make made, mean meant, meet met, mistake mistook mistaken, overcome overcame, pay paid,
prove proven, ride rode ridden, ring rang rung, rise risen, run ran, say said, see saw seen, seek sought,
sell sold, send sent, sew sewn, shake shook shaken, shine shone, shoot shot, show shown, shrink shrank shrunk,
sing sang sung, sink sank sunk, sit sat, sleep slept, slide slid, speak spoke spoken, speed sped, spell spelt,
spend spent, spill spilt, spin spun, spoil spoilt, spring sprang sprung, stand stood, steal stole stolen,
stick stuck, sting stung, strike struck stricken, swear swore sworn, sweep swept, swim swam swum, swing swung,
take took taken, teach taught, tear tore torn, tell told, think thought, throw threw thrown,
understand understood, undertake undertook undertaken, undo undid undone, wake woke woken, wear wore worn,
weave wove woven, weep wept, win won, withdraw withdrew withdrawn, write wrote written,
rewrite rewrote rewritten, rebuild rebuilt, child children, man men, woman women, person people, foot feet,
tooth teeth, goose geese, mouse mice, ox oxen, wife wives, life lives, knife knives, leaf leaves, half halves,
shelf shelves, wolf wolves, loaf loaves, thief thieves, calf calves, scarf scarves, index indices,
matrix matrices, vertex vertices, criterion criteria, phenomenon phenomena, analysis analyses,
hypothesis hypotheses, thesis theses, crisis crises, basis bases`
