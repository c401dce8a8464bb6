package records

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math"

	"memdesk/model"
)

// beside reads an item's vector.
func (a *store) beside(ctx context.Context, id string) (out model.Beside, err error) {
	const op = "beside"
	if err := a.begin(ctx, op, false); err != nil {
		return out, err
	}
	t, key, err := a.locate(op, id)
	if err != nil || t.Vector == "" {
		return out, err
	}
	cond, args := t.keyed([]string{key})
	err = a.DB.View(ctx, op, func(tx Tx) error {
		var raw []byte
		found, err := One(tx, `SELECT `+t.Vector+` FROM `+t.From+t.where(true, cond), args, &raw)
		if err == nil && !found {
			err = absent(op, id)
		}
		out.Vector = vector(raw)
		return err
	})
	return out, model.Wrap(op, err)
}

// keep returns the rows that Forget of an item would remove.
func (a *store) keep(ctx context.Context, id string) (out []model.BesideRow, err error) {
	const op = "keep"
	if err := a.begin(ctx, op, false); err != nil {
		return nil, err
	}
	t, key, err := a.locate(op, id)
	if err != nil || t.Keep == nil {
		return nil, err
	}
	err = a.DB.View(ctx, op, func(tx Tx) error {
		row, found, err := t.row(tx, key)
		if err == nil && !found {
			err = absent(op, id)
		}
		if err == nil {
			out, err = t.Keep(tx, row)
		}
		return err
	})
	return out, model.Wrap(op, err)
}

// vector reads a vector; empty for anything else.
func vector(raw []byte) (out []float32) {
	if len(raw) > 0 && raw[0] == '[' && json.Unmarshal(raw, &out) == nil {
		return out
	}
	if len(raw)%4 != 0 {
		return nil
	}
	out = make([]float32, 0, len(raw)/4)
	for ; len(raw) > 0; raw = raw[4:] {
		out = append(out, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	}
	return out
}
