-- ARGV[3] worker, ARGV[4] from: the first unit it can begin at, -1 for any.
-- {'segment', id, lo, hi, cur, fence} | {'wait'|'behind', speed, running} | {'done'} | {'absent'}
-- Of `wait` and `behind` the caller may find that a part of what runs can be taken (take.lua): `speed` is the worker's
-- ('' not measured), `running` holds {id, cur, hi, ms since cur was taken up, speed of its worker, from, '1' copied}.
if not present() then return {'absent'} end
local worker, from = ARGV[3], tonumber(ARGV[4])
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

local ready = redis.call('ZRANGE', key('ready'), 0, -1)
for _, id in ipairs(ready) do
  if tonumber(redis.call('HGET', seg(id), 'cur')) >= from then return grant(id, worker, ARGV[4]) end
end

local running, ahead = {}, false
for _, id in ipairs(redis.call('ZRANGE', key('lease'), 0, -1)) do
  local s = redis.call('HMGET', seg(id), 'cur', 'hi', 'since', 'owner', 'from', 'copy', 'copy_of')
  if tonumber(s[2]) > from then ahead = true end
  running[#running + 1] = {id, s[1], s[2], string.format('%.0f', now_ms() - tonumber(s[3] or now_ms())),
                           redis.call('HGET', key('worker:' .. s[4]), 'speed') or '', s[5] or s[1],
                           (s[6] or s[7]) and '1' or ''}
end
if #ready == 0 and #running == 0 then return {'done'} end
local kind = (#ready == 0 and ahead) and 'wait' or 'behind'
return {kind, redis.call('HGET', key('worker:' .. worker), 'speed') or '', running}
