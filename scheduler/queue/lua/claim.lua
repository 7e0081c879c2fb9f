-- ARGV[3] worker, ARGV[4] from: the first unit it can begin at, -1 for any, ARGV[5] '1': it has joined. ARGV[6] how many
-- ready segments were looked at already, ARGV[7] '1': one of them was no proof, ARGV[8] the first proof of them or ''.
-- {'segment', id, lo, hi, cur, fence} | {'wait'|'behind', speed, running} | {'done'} | {'absent'} | {'unknown'}: whoever
-- built the queue anew does not know the worker; it has to join again | {'more', and ARGV[6] to ARGV[8] of the next call}
-- Of `wait` and `behind` the caller may find that a part of what runs can be taken (take.lua): `speed` is the worker's
-- ('' not measured), `running` holds {id, cur, hi, ms since cur was taken up, speed of its worker, from, '1' copied} of
-- at most SHOWN segments. Where more run, each claim sees others: the longest of some tens is near the longest of all.
if not present() then return {'absent'} end
local SHOWN = 32
local worker, from, looked = ARGV[3], position(ARGV[4], 'from'), whole(ARGV[6], 'the number of segments')
if ARGV[5] == '1' and redis.call('HEXISTS', key('worker:' .. worker), 'pid') == 0 then return {'unknown'} end
heartbeat(worker)

-- A worker that holds a segment and claims has never got the answer (a time-out): the same one again.
local held = redis.call('HGET', key('worker:' .. worker), 'segment')
local s = held and find_segment(held)
if s and s.owner == worker and s.state == 'running' then
  if s.cur >= from then return grant(held, worker, from) end
  hand_back(held, s, 'release', '', false)
end

reap_expired()

-- Proof units come last: they are no answers.
local first_proof = first_proof()
local ready, proof = ARGV[7] == '1', ARGV[8] ~= '' and ARGV[8] or nil
local ids = redis.call('ZRANGE', key('ready'), looked, looked + MOST - 1)
for _, id in ipairs(ids) do
  local cur = segment_in('ready', id).cur
  if cur >= first_proof then
    proof = proof or id
  elseif cur >= from then
    return grant(id, worker, from)
  else
    ready = true
  end
end
if #ids == MOST then return {'more', looked + MOST, ready and '1' or '', proof or ''} end

local function speed_of(name)
  return string.sub(redis.call('HGET', key('worker:' .. name), 'speed') or '', 1, 32)
end

local running, ahead, proving = {}, false, false
local ids = redis.call('ZRANGE', key('lease'), 0, MOST - 1)
local first, seen = #ids > SHOWN and now_ms() % #ids or 0, math.min(#ids, SHOWN)
for n = first, first + seen - 1 do
  local id = ids[n % #ids + 1]
  local s = segment_in('lease', id)
  if s.cur >= first_proof then
    proving = true
  else
    if s.hi > from then ahead = true end
    running[#running + 1] = {id, s.cur, s.hi, string.format('%.0f', now_ms() - (s.since or now_ms())),
                             speed_of(s.owner), s.from or s.cur, (s.copy or s.copy_of) and '1' or ''}
  end
end
for n = first + seen, first + #ids - 1 do
  if ahead or #running == 0 then break end
  ahead = segment_in('lease', ids[n % #ids + 1]).hi > from
end
if #ids == MOST then ahead = true end  -- or so it is taken: others run
if not ready and #running == 0 then
  if proof and done_count() >= meta_number('units') and segment_in('ready', proof).state == 'ready' then
    return grant(proof, worker, from)
  end
  if proof and looked > 0 then return {'wait', '', {}} end
  return proving and {'wait', speed_of(worker), {}} or {'done'}
end
return {(not ready and ahead) and 'wait' or 'behind', speed_of(worker), running}
