-- ARGV[3] segment, ARGV[4] fence, ARGV[5] unit, ARGV[6] worker, ARGV[7] what is kept of the unit (JSON).
-- {'ok', hi, again} | {'lost'} | {'hole', unit}: that unit before this one is not done | {'absent'}
if not present() then return {'absent'} end
local id, unit, worker = ARGV[3], tonumber(ARGV[5]), ARGV[6]
local s = redis.call('HMGET', seg(id), 'fence', 'state', 'lo', 'hi', 'cur')
if s[1] ~= ARGV[4] then return {'lost'} end
local lo, hi, cur = tonumber(s[3]), tonumber(s[4]), tonumber(s[5])
if unit < lo or unit >= hi then return {'lost'} end
-- The segment ends with its last unit, so a commit repeated after a time-out may find it done.
if s[2] == 'done' then return {'ok', s[4], 1} end
if s[2] ~= 'running' then return {'lost'} end
for before = cur, unit - 1 do
  if redis.call('HEXISTS', key('done'), before) == 0 then return {'hole', before} end
end

local first = redis.call('HSETNX', key('done'), ARGV[5], ARGV[7])
redis.call('HSET', seg(id), 'tries', 0, 'error', '')
if unit >= cur then redis.call('HSET', seg(id), 'cur', unit + 1) end
redis.call('ZADD', key('lease'), lease_until(), id)
if first == 1 then redis.call('HINCRBY', key('worker:' .. worker), 'units', 1) end
heartbeat(worker)
event('commit', id, ARGV[5], worker, 'again', 1 - first)
if unit + 1 >= hi then finish(id) end
return {'ok', s[4], 1 - first}
