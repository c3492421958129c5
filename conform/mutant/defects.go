package mutant

import (
	"softswitch/buffer"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// Defects are those of frames, in the order of their numbers.
func Defects() []Defect {
	return []Defect{
		{
			Number: 17, Name: "pauses are honoured 5 ms late", Cases: []string{"R11"},
			In: func(_ unit.Port, f *buffer.Frame) unit.Time {
				if pfcframe.IsMACControl(f.Data) {
					return 5 * unit.Millisecond
				}
				return 0
			},
		},
		{
			Number: 25, Name: "tagged PFC is believed", Cases: []string{"M06"},
			In: func(_ unit.Port, f *buffer.Frame) (hold unit.Time) {
				if b := f.Data; len(b) > pfcframe.Len && string(b[:6]) == pfcframe.Address && b[12] == 0x81 && b[13] == 0 {
					copy(b[12:], b[16:])
					f.Data, f.Len = b[:len(b)-4], f.Len-4
				}
				return 0
			},
		},
		{
			Number: 31, Name: "pauses have the address of another port", Cases: []string{"T03"},
			Out: onPauses(func(out unit.Port, p *pfcframe.Frame) { p.Src[5]++ }),
		},
		{
			Number: 31, Name: "pauses have a group address as their source", Cases: []string{"T03"},
			Out: onPauses(func(out unit.Port, p *pfcframe.Frame) { p.Src[0] |= 1 }),
		},
		{
			Number: 32, Name: "pauses have 34 bytes", Cases: []string{"T03"},
			Out: func(_ unit.Port, f *buffer.Frame) {
				if pfcframe.IsMACControl(f.Data) {
					f.Data, f.Len = f.Data[:pfcframe.PadOffset], pfcframe.PadOffset
				}
			},
		},
		{
			Number: 32, Name: "timers are one priority off", Cases: []string{"T03"},
			Out: onPauses(func(_ unit.Port, p *pfcframe.Frame) {
				last := p.Quanta[unit.Priorities-1]
				copy(p.Quanta[1:], p.Quanta[:])
				p.Quanta[0] = last
			}),
		},
		{
			Number: 34, Name: "pauses name all priorities", Cases: []string{"T05"},
			Out: onPauses(func(_ unit.Port, p *pfcframe.Frame) {
				quanta := p.Quanta[p.Enable.First()]
				p.Enable = 0xff
				for c := range p.Quanta {
					p.Quanta[c] = quanta
				}
			}),
		},
	}
}

// onPauses changes the PFC frames that leave.
func onPauses(change func(out unit.Port, p *pfcframe.Frame)) func(unit.Port, *buffer.Frame) {
	return func(out unit.Port, f *buffer.Frame) {
		p, pad, err := pfcframe.Parse(f.Data)
		if err != nil {
			return
		}
		was := append([]byte(nil), pad...)
		change(out, &p)
		copy(pfcframe.Put(f.Data, p), was)
	}
}
