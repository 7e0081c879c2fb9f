-- The queue survived a restart of its server, maybe as it was a while ago. After `adopt_begin` and `add_done`: every `cur`
-- moves behind what is done, and leases get their full length again, for no one could renew them meanwhile.
-- ARGV[3] builder, ARGV[4] the first segment to look at. {'ok'} | {'more', the next segment} | {'lost'}
if not is_being_built(ARGV[3]) then return {'lost'} end
local left = MOST
local last = meta_number('next') - 1
for number = whole(ARGV[4], 'the first segment'), last do
  if left <= 0 then return {'more', number} end
  left = left - 1
  local id = string.format('%d', number)
  local s = segment_in('meta: next', id)
  if s.state ~= 'done' then
    local cur = s.cur
    while cur < s.hi and left > 0 and redis.call('HEXISTS', key('done'), string.format('%d', cur)) == 1 do
      cur, left = cur + 1, left - 1
    end
    redis.call('HSET', seg(id), 'cur', cur)
    if cur >= s.hi then
      finish(id)
    elseif left <= 0 then
      return {'more', number}
    elseif s.state == 'running' then
      add_running(id)
      redis.call('ZADD', key('lease'), lease_until(), id)
    end
  end
end
redis.call('HSET', key('meta'), 'lists_running', 1)
return {'ok'}
