-- ARGV[3] worker, ARGV[4] from: the first unit it can begin at, -1 for any, ARGV[5] '1': it has joined.
-- {'segment', id, lo, hi, cur, fence} | {'wait'|'behind', speed, running} | {'done'} | {'absent'} | {'unknown'}: whoever
-- built the queue anew does not know the worker; it has to join again.
-- Of `wait` and `behind` the caller may find that a part of what runs can be taken (take.lua): `speed` is the worker's
-- ('' not measured), `running` holds {id, cur, hi, ms since cur was taken up, speed of its worker, from, '1' copied} of
-- at most MOST segments. Where more run, each claim sees others: the longest of some tens is near the longest of all.
if not present() then return {'absent'} end
local MOST = 32
local worker, from = ARGV[3], tonumber(ARGV[4])
if ARGV[5] == '1' and redis.call('HEXISTS', key('worker:' .. worker), 'pid') == 0 then return {'unknown'} end
heartbeat(worker)

-- A worker that holds a segment and claims has never got the answer (a time-out): the same one again.
local held = redis.call('HGET', key('worker:' .. worker), 'segment')
if held then
  local s = redis.call('HMGET', seg(held), 'owner', 'state', 'cur')
  if s[1] == worker and s[2] == 'running' then
    if tonumber(s[3]) >= from then return grant(held, worker, ARGV[4]) end
    hand_back(held, 'release', '', false)
  end
end

reap_expired()

-- Proof units come last: they are no answers.
local first_proof = first_proof()
local ready, proof = 0, nil
for _, id in ipairs(redis.call('ZRANGE', key('ready'), 0, -1)) do
  local cur = tonumber(redis.call('HGET', seg(id), 'cur'))
  if cur >= first_proof then
    proof = proof or id
  elseif cur >= from then
    return grant(id, worker, ARGV[4])
  else
    ready = ready + 1
  end
end

local running, ahead, proving = {}, false, false
local ids = redis.call('ZRANGE', key('lease'), 0, -1)
local first, seen = #ids > MOST and now_ms() % #ids or 0, math.min(#ids, MOST)
for n = first, first + seen - 1 do
  local id = ids[n % #ids + 1]
  local s = redis.call('HMGET', seg(id), 'cur', 'hi', 'since', 'owner', 'from', 'copy', 'copy_of')
  if tonumber(s[1]) >= first_proof then
    proving = true
  else
    if tonumber(s[2]) > from then ahead = true end
    running[#running + 1] = {id, s[1], s[2], string.format('%.0f', now_ms() - tonumber(s[3] or now_ms())),
                             redis.call('HGET', key('worker:' .. s[4]), 'speed') or '', s[5] or s[1],
                             (s[6] or s[7]) and '1' or ''}
  end
end
for n = first + seen, first + #ids - 1 do
  if ahead or #running == 0 then break end
  ahead = tonumber(redis.call('HGET', seg(ids[n % #ids + 1]), 'hi')) > from
end
local speed = redis.call('HGET', key('worker:' .. worker), 'speed') or ''
if ready == 0 and #running == 0 then
  if proof and done_counts() >= tonumber(redis.call('HGET', key('meta'), 'units')) then
    return grant(proof, worker, ARGV[4])
  end
  return proving and {'wait', speed, {}} or {'done'}
end
return {(ready == 0 and ahead) and 'wait' or 'behind', speed, running}
